import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import type { Edns, Message, MessageRecord, Question } from "@meridian/dns";
import { silentLogger } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { run } from "../../e2e/harness/command.ts";
import { Simulation } from "@meridian/runtime/sim";
import { meridianCommand } from "./child-server.ts";
import { randomZone } from "./differential-zones.ts";
import { datapaths } from "./datapath.ts";
import type { DnsExchange } from "./dns-exchange.ts";
import { missingReferenceServers } from "./reference-servers.ts";
import { ServedBeside } from "./served-beside.ts";
import { missingSigners, signZone, zoneToSign, type SignedZone, type Signing } from "./signed-zones.ts";

// Zones that the tools of others signed, served by `meridian dns`, BIND, NSD and Knot from the same files. Where BIND and NSD
// agree about a question with DO, ours is the same answer, signatures and denials included.

const seed = Number(process.env["MERIDIAN_SEED"] ?? 5155);
const signings: Readonly<Record<string, Signing>> = {
  "nsec.test": { tool: "dnssec-signzone", options: [] },
  "nsec3.test": { tool: "dnssec-signzone", options: ["-3", "aabbcc", "-H", "3"] },
  "optout.test": { tool: "dnssec-signzone", options: ["-3", "-", "-H", "0", "-A"] },
  // Two keys, as in a roll-over, and two algorithms: four signatures for each set.
  "double.test": { tool: "dnssec-signzone", options: [], moreKeys: ["ECDSAP256SHA256", "RSASHA256"] },
  "ldns.test": { tool: "ldns-signzone", options: ["-n", "-t", "2", "-s", "0102"] },
};
/** Zones of random records, signed in these ways in turn. */
const randomZones = Array.from(
  { length: Number(process.env["MERIDIAN_ZONES"] ?? 12) },
  (_, index) => `z${index}.test`,
);
const randomSignings: readonly Signing[] = [
  { tool: "dnssec-signzone", options: [] },
  { tool: "dnssec-signzone", options: ["-3", "0badcafe", "-H", "1"] },
  { tool: "dnssec-signzone", options: ["-3", "-", "-H", "0", "-A"] },
];
const types = ["A", "TXT", "NS", "CNAME", "DS", "DNAME", "MX", "ANY", "SOA", "RRSIG", "NSEC"];
const apexTypes = ["DNSKEY", "NSEC3PARAM", "NSEC3", "CDS", "AAAA"];
const signed: Edns = { payloadSize: 4_096, version: 0, dnssecOk: true, options: [] };

const runtime = nodeRuntime({ dataFolder: tmpdir(), log: silentLogger });
const missing = missingReferenceServers() ?? missingSigners();
const skip = missing ?? false;
const zones: SignedZone[] = [];
let folder: string;
let served: ServedBeside;

before(async () => {
  if (missing !== undefined) return;
  folder = await mkdtemp(path.join(tmpdir(), "meridian-presigned-"));
  for (const [origin, signing] of Object.entries(signings))
    zones.push(await signZone(zoneToSign(origin), signing, folder));
  const random = new Simulation({ seed }).random("zones");
  for (const [index, origin] of randomZones.entries())
    zones.push(await signZone(randomZone(origin, random), randomSignings[index % 3]!, folder));
  served = await ServedBeside.start(runtime, { folder, zones });
});

after(async () => {
  if (missing !== undefined) return;
  await served?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

interface Round {
  readonly question: Question;
  readonly mine: string;
  /** In the order of `references`: BIND, NSD, Knot. */
  readonly theirs: readonly string[];
}

/** Asks all servers. */
async function ask(question: Question, edns: Edns): Promise<Round> {
  const answer = async (exchange: DnsExchange): Promise<string> =>
    answerText(await exchange.overTcp(question, edns));
  const mine = await answer(served.ours());
  const theirs: string[] = [];
  for (const { exchange } of served.references) theirs.push(await answer(exchange));
  return { question, mine, theirs };
}

for (const dnssecOk of [true, false])
  for (const origin of Object.keys(signings))
    test(`${origin} over TCP, ${dnssecOk ? "with" : "without"} DO`, { skip }, async (t) => {
      const edns = { ...signed, dnssecOk };
      const rounds: Round[] = [];
      for (const question of questionsOf(origin)) rounds.push(await ask(question, edns));
      judge(rounds, (line) => t.diagnostic(line));
    });

test(`${randomZones.length} random zones over TCP, with DO (seed ${seed})`, { skip }, async (t) => {
  const rounds: Round[] = [];
  for (const origin of randomZones)
    for (const question of questionsOf(origin)) rounds.push(await ask(question, signed));
  judge(rounds, (line) => t.diagnostic(line));
});

for (const datapath of datapaths)
  test(`over UDP as over TCP, or truncated (${datapath})`, { skip }, async (t) => {
    const counts = { whole: 0, truncated: 0 };
    for (const origin of Object.keys(signings)) {
      for (const question of questionsOf(origin)) {
        if (!["A", "DS", "DNSKEY"].includes(question.type)) continue;
        for (const payloadSize of [512, 1_232]) {
          const edns = { ...signed, payloadSize };
          const message = { questions: [question], edns };
          const answer = await served.ours(datapath).overUdp(message);
          if (answer.truncated) {
            counts.truncated++;
            assert.equal(answer.answers.length + answer.authority.length, 0);
            // Of old sizes a name that is written out for lack of a place to point to can be too much.
            if (payloadSize < 1_232) continue;
            const theirs = await Promise.all(
              served.references.map(({ exchange }) => exchange.overUdp(message)),
            );
            assert.ok(
              theirs.some(({ truncated }) => truncated),
              `${question.name} ${question.type} at ${payloadSize} is truncated by none of the others`,
            );
            continue;
          }
          counts.whole++;
          const whole = await served.ours(datapath).overTcp(question, edns);
          assert.equal(answerText(answer), answerText(whole));
        }
      }
    }
    t.diagnostic(JSON.stringify(counts));
    assert.ok(counts.whole > 1_000 && counts.truncated > 10);
  });

test(
  "a configuration that would void the signatures is refused, with the place of the setting",
  { skip },
  async () => {
    const [{ origin } = { origin: "" }] = zones;
    const file = path.join(folder, origin);
    const keyFile = path.join(folder, "ci.key");
    const secret = Buffer.from("0123456789abcdef").toString("base64");
    await writeFile(keyFile, `key "ci" { algorithm hmac-sha256; secret "${secret}"; };\n`);
    const head = `listen: ["127.0.0.1:0"]\nkeys: [{ file: ${keyFile} }]\nzones:\n  - origin: ${origin}\n    file: ${file}\n`;
    for (const [setting, where] of [
      [`signing: { keys: ${file}-keys }`, /:6: zones\[0\]\.signing\.keys: nsec\.test is signed already/],
      [
        "journal: j\n    updates: [{ key: ci, match: subdomain }]",
        /zones\[0\]\.journal: nsec\.test is signed already/,
      ],
      [
        "choices: [{ name: www.nsec.test, by: rotate, data: [192.0.2.9] }]",
        /choices\[0\].*: nsec\.test is signed already/,
      ],
    ] as const) {
      const config = path.join(folder, "dns.yaml");
      await writeFile(config, `${head}    ${setting}\n`);
      const [program, ...args] = [...meridianCommand, "dns", "check", "--config", config];
      const { code, stdout, stderr } = await run(program, args);
      assert.notEqual(code, 0);
      assert.match(stdout + stderr, where);
    }
  },
);

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

/** Where BIND and NSD may differ, and why ours is as it is. */
const listed: readonly {
  readonly reason: string;
  readonly applies: (round: Round) => boolean;
}[] = [
  {
    reason: "a DNAME that leads below itself: each server stops after a number of steps of its own",
    applies: ({ mine }) => /(?<= |\{)(\S+) \d+ dname \S+\.\1\./.test(mine),
  },
  {
    reason: "an alias loop: BIND shows each alias once with SERVFAIL, the others with NOERROR, as ours does",
    applies: ({ mine, theirs: [bind = "", nsd, knot] }) =>
      (mine === nsd || mine === knot) && bind === mine.replace("rcode 0", "rcode 2"),
  },
  {
    reason:
      "ANY over TCP: BIND's answer and ours have all sets, NSD's and Knot's have one (RFC 8482 allows both)",
    applies: ({ question, mine, theirs: [bind] }) => question.type === "ANY" && mine === bind,
  },
  {
    reason: "the NSEC of a zone cut: BIND answers it, NSD and Knot refer to the child, as ours does",
    applies: ({ question, mine, theirs: [, nsd, knot] }) =>
      question.type === "NSEC" && mine === nsd && mine === knot,
  },
  {
    reason:
      "a wildcard that is there only since something is below it: NSD and ours prove it, BIND and Knot do not",
    applies: ({ mine, theirs: [bind = "", nsd, knot] }) =>
      mine === nsd &&
      bind === knot &&
      /^rcode 0 aa answer \{\} .* nsec /.test(mine) &&
      mine.length > bind.length,
  },
  {
    reason:
      "RRSIG of a wildcard: Knot leaves out that of its NSEC, NSD proves another name; ours is BIND's answer",
    applies: ({ question, mine, theirs: [bind] }) => question.type === "RRSIG" && mine === bind,
  },
  {
    reason: "opt-out: NSD and Knot leave out the encloser of names without NSEC3; ours is BIND's answer",
    applies: ({ mine, theirs: [bind] }) => mine === bind && / nsec3 1 1 /.test(mine),
  },
  {
    reason:
      "NSD alone proves more, or another thing, of wildcards and of names without NSEC3; ours is BIND's and Knot's",
    applies: ({ mine, theirs: [bind, , knot] }) => mine === bind && mine === knot,
  },
];

function judge(rounds: readonly Round[], say: (line: string) => void): void {
  const excused = new Map<string, number>();
  const wrong: Round[] = [];
  let agreed = 0;
  for (const round of rounds) {
    const [bind, nsd] = round.theirs;
    if (round.mine === bind && bind === nsd) agreed++;
    else {
      const reason = bind === nsd ? undefined : listed.find(({ applies }) => applies(round))?.reason;
      if (reason === undefined) wrong.push(round);
      else excused.set(reason, (excused.get(reason) ?? 0) + 1);
    }
  }
  say(`${rounds.length} questions, BIND, NSD and ours alike: ${agreed}`);
  for (const [reason, count] of excused) say(`${count}: ${reason}`);
  const shown = wrong.slice(0, 20).map(describe).join("\n");
  assert.ok(agreed > 500 && wrong.length === 0, `${wrong.length} of ${rounds.length}:\n${shown}`);
}

function describe({ question, mine, theirs }: Round): string {
  const lines = served.references.map(({ name }, index) => `  ${name}: ${theirs[index]}`);
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
