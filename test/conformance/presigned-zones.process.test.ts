import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import type { Edns, Message, MessageRecord, Question } from "@meridian/dns";
import { silentLogger } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { ChildServer, freePort, meridianCommand } from "./child-server.ts";
import { DnsExchange } from "./dns-exchange.ts";
import { missingReferenceServers, startReferenceServers, type ReferenceServer } from "./reference-servers.ts";
import { missingSigners, signZone, zoneToSign, type SignedZone, type Signing } from "./signed-zones.ts";

// Zones that the tools of others signed, served by `meridian dns`, BIND, NSD and Knot from the same files. Where BIND and NSD
// agree about a question with DO, ours is the same answer, signatures and denials included.

const signings: Readonly<Record<string, Signing>> = {
  "nsec.test": { tool: "dnssec-signzone", options: [] },
  "nsec3.test": { tool: "dnssec-signzone", options: ["-3", "aabbcc", "-H", "3"] },
  "optout.test": { tool: "dnssec-signzone", options: ["-3", "-", "-H", "0", "-A"] },
  "ldns.test": { tool: "ldns-signzone", options: ["-n", "-t", "2", "-s", "0102"] },
};
const types = ["A", "TXT", "NS", "CNAME", "DS", "DNAME", "MX", "ANY", "SOA", "RRSIG", "NSEC"];
const apexTypes = ["DNSKEY", "NSEC3PARAM", "NSEC3", "CDS", "AAAA"];
const signed: Edns = { payloadSize: 4_096, version: 0, dnssecOk: true, options: [] };

const runtime = nodeRuntime({ dataFolder: tmpdir(), log: silentLogger });
const missing = missingReferenceServers() ?? missingSigners();
const skip = missing ?? false;
const zones: SignedZone[] = [];
let folder: string;
const datapaths = ["auto", "dgram"] as const;
const children: ChildServer[] = [];
const ours = new Map<string, DnsExchange>();
let references: readonly ReferenceServer[] = [];

before(async () => {
  if (missing !== undefined) return;
  folder = await mkdtemp(path.join(tmpdir(), "meridian-presigned-"));
  for (const [origin, signing] of Object.entries(signings))
    zones.push(await signZone(zoneToSign(origin), signing, folder));
  references = await startReferenceServers(runtime, { folder, zones });
  const files = zones.flatMap(({ origin }) => ["--zone-file", path.join(folder, origin), "--origin", origin]);
  for (const datapath of datapaths) {
    const port = await freePort(runtime);
    const how = ["--listen", `127.0.0.1:${port}`, "--datapath", datapath];
    children.push(await ChildServer.start([...meridianCommand, "dns", ...files, ...how], /Serving /));
    ours.set(datapath, new DnsExchange(runtime, { address: "127.0.0.1", port }));
  }
});

after(async () => {
  if (missing !== undefined) return;
  for (const server of references) await server[Symbol.asyncDispose]();
  for (const exchange of ours.values()) await exchange[Symbol.asyncDispose]();
  for (const child of children) await child[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

interface Round {
  readonly question: Question;
  readonly mine: string;
  /** In the order of `references`: BIND, NSD, Knot. */
  readonly theirs: readonly string[];
}

for (const dnssecOk of [true, false])
  for (const origin of Object.keys(signings))
    test(`${origin} over TCP, ${dnssecOk ? "with" : "without"} DO`, { skip }, async (t) => {
      const edns = { ...signed, dnssecOk };
      const rounds: Round[] = [];
      for (const question of questionsOf(origin)) {
        const ask = async (exchange: DnsExchange): Promise<string> =>
          answerText(await exchange.overTcp(question, edns));
        const mine = await ask(ours.get("auto")!);
        const theirs: string[] = [];
        for (const { exchange } of references) theirs.push(await ask(exchange));
        rounds.push({ question, mine, theirs });
      }
      judge(rounds, (line) => t.diagnostic(line));
    });

function* questionsOf(origin: string): Generator<Question> {
  const zone = zones.find((each) => each.origin === origin)!;
  for (const name of zone.names) for (const type of types) yield { name, type, class: 1 };
  for (const type of apexTypes) yield { name: origin, type, class: 1 };
  for (const owner of hashedOwners(zone))
    for (const type of ["A", "NSEC3"]) yield { name: owner, type, class: 1 };
}

function hashedOwners({ text, origin }: SignedZone): string[] {
  return [...text.matchAll(/^([0-9A-Va-v]{32})\.\S+\s+\d+\s+(?:IN\s+)?NSEC3\s/gm)]
    .slice(0, 5)
    .map(([, hash]) => `${hash}.${origin}`);
}

function judge(rounds: readonly Round[], say: (line: string) => void): void {
  const agreed = rounds.filter(({ theirs: [bind, nsd] }) => bind === nsd);
  const wrong = rounds.filter(({ mine, theirs: [bind, nsd] }) => mine !== bind && mine !== nsd);
  const different = agreed.filter(({ mine, theirs: [bind] }) => mine !== bind);
  say(`${rounds.length} questions, BIND and NSD alike: ${agreed.length}, ours like neither: ${wrong.length}`);
  const shown = [...different, ...wrong]
    .slice(0, Number(process.env["MERIDIAN_SHOWN"] ?? 20))
    .map(describe)
    .join("\n");
  assert.ok(rounds.length > 500 && wrong.length === 0, `${wrong.length} of ${rounds.length}:\n${shown}`);
}

function describe({ question, mine, theirs }: Round): string {
  const lines = references.map(({ name }, index) => `  ${name}: ${theirs[index]}`);
  return [`${question.name} ${question.type}`, `  we: ${mine}`, ...lines].join("\n");
}

/** The header and the sections as sets. Additional data is free where it is no glue. */
function answerText(message: Message): string {
  const section = (records: readonly MessageRecord[]): string =>
    [...new Set(records.map(({ name, type, ttl, data }) => `${name} ${ttl} ${type} ${data}`.toLowerCase()))]
      .sort()
      .join(", ");
  const flags = [message.authoritative && "aa", message.truncated && "tc"].filter(Boolean).join(" ");
  return `rcode ${message.rcode} ${flags} answer {${section(message.answers)}} authority {${section(message.authority)}}`;
}
