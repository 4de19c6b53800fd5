import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import type { Message, MessageRecord, Question } from "@meridian/dns";
import { silentLogger } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { Simulation } from "@meridian/runtime/sim";
import { ChildServer, freePort, meridianCommand } from "./child-server.ts";
import { handWritten, randomZone, type DifferentialZone } from "./differential-zones.ts";
import { DnsExchange } from "./dns-exchange.ts";

// The same zones served by `meridian dns` and by BIND; every answer must be the same, or differ for a reason on the list.

const seed = Number(process.env["MERIDIAN_SEED"] ?? 1034);
const zones: readonly DifferentialZone[] = [
  handWritten,
  ...randomZones(Number(process.env["MERIDIAN_ZONES"] ?? 20)),
];
const everyType = [
  "A",
  "AAAA",
  "NS",
  "SOA",
  "CNAME",
  "TXT",
  "MX",
  "SRV",
  "PTR",
  "DS",
  "DNAME",
  "ANY",
  "TYPE666",
  "HTTPS",
  "CAA",
  "TYPE65280",
];
const fewTypes = ["A", "NS", "CNAME", "TXT", "DS", "DNAME", "ANY", "SOA"];

const runtime = nodeRuntime({ dataFolder: tmpdir(), log: silentLogger });
const hasNamed = spawnSync("named", ["-v"]).error === undefined;
const children: ChildServer[] = [];
let folder: string;
let ours: DnsExchange;
let binds: DnsExchange;

/** What may differ, and why that is right. */
interface Difference {
  readonly reason: string;
  readonly applies: (question: Question, ours: Message, binds: Message) => boolean;
}

const accepted: readonly Difference[] = [
  {
    reason: "BIND answers SERVFAIL to a loop of aliases; ours shows each alias once, as NSD and Knot do",
    applies: (_question, a, b) =>
      b.rcode === 2 && a.rcode === 0 && a.answers.every(isAlias) && a.answers.length > 0,
  },
];

before(async () => {
  if (!hasNamed) return;
  folder = await mkdtemp(path.join(tmpdir(), "meridian-differential-"));
  for (const zone of zones) await writeFile(path.join(folder, zone.origin), zone.text);
  const [ourPort, bindPort] = [await freePort(runtime), await freePort(runtime)];
  await writeFile(path.join(folder, "named.conf"), namedConfig(bindPort));
  const files = zones.flatMap(({ origin }) => ["--zone-file", path.join(folder, origin), "--origin", origin]);
  const listen = ["--listen", `127.0.0.1:${ourPort}`];
  children.push(await ChildServer.start([...meridianCommand, "dns", ...files, ...listen], /Serving /));
  const named = ["named", "-g", "-n", "1", "-c", path.join(folder, "named.conf")];
  children.push(await ChildServer.start(named, / running\n/));
  ours = new DnsExchange(runtime, { address: "127.0.0.1", port: ourPort });
  binds = new DnsExchange(runtime, { address: "127.0.0.1", port: bindPort });
});

after(async () => {
  if (!hasNamed) return;
  await ours?.[Symbol.asyncDispose]();
  await binds?.[Symbol.asyncDispose]();
  for (const child of children) await child[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const skip = hasNamed ? false : "BIND's named is not installed (Debian: apt-get install bind9)";

test(`BIND and we answer alike over TCP (${zones.length} zones, seed ${seed})`, { skip }, async (t) => {
  const differences: string[] = [];
  const excused = new Map<string, number>();
  let asked = 0;
  for (const zone of zones) {
    for (const name of zone.names) {
      for (const type of zone === handWritten ? everyType : fewTypes) {
        const question = { name, type, class: 1 };
        const [mine, theirs] = [await ours.overTcp(question), await binds.overTcp(question)];
        asked++;
        const [left, right] = [answerText(mine, zone), answerText(theirs, zone)];
        if (left === right) continue;
        const reason = accepted.find((difference) => difference.applies(question, mine, theirs))?.reason;
        if (reason === undefined) {
          differences.push(`${name} ${type} in ${zone.origin}\n  we:   ${left}\n  BIND: ${right}`);
        } else {
          excused.set(reason, (excused.get(reason) ?? 0) + 1);
        }
      }
    }
  }
  for (const [reason, count] of excused) t.diagnostic(`${count} of ${asked}: ${reason}`);
  assert.ok(
    differences.length === 0,
    `${differences.length} of ${asked}, seed ${seed}:\n${differences.slice(0, 20).join("\n")}`,
  );
});

test("BIND and we answer alike over UDP, with and without EDNS", { skip }, async () => {
  const differences: string[] = [];
  for (const name of handWritten.names) {
    for (const type of ["A", "TXT", "DS"]) {
      for (const payloadSize of [undefined, 512, 1232]) {
        const edns =
          payloadSize === undefined
            ? {}
            : { edns: { payloadSize, version: 0, dnssecOk: false, options: [] } };
        const message = { questions: [{ name, type, class: 1 }], recursionDesired: true, ...edns };
        const [mine, theirs] = [await ours.overUdp(message), await binds.overUdp(message)];
        if (accepted.some((difference) => difference.applies(message.questions[0]!, mine, theirs))) continue;
        const text = (answer: Message): string =>
          `${headerText(answer)} ${answer.edns === undefined ? "plain" : "edns"}`;
        if (text(mine) !== text(theirs))
          differences.push(`${name} ${type} ${payloadSize}: ${text(mine)} | ${text(theirs)}`);
      }
    }
  }
  assert.deepEqual(differences, []);
});

const isAlias = (record: MessageRecord): boolean => record.type === "CNAME" || record.type === "DNAME";

function headerText(message: Message): string {
  const flags = [
    message.authoritative && "aa",
    message.truncated && "tc",
    message.recursionDesired && "rd",
    message.recursionAvailable && "ra",
    message.authenticData && "ad",
  ];
  return `rcode ${message.rcode} ${flags.filter(Boolean).join(" ")}`;
}

/** What of an answer must be equal: the header, and the sections as sets. Case of owners and additional data are free. */
function answerText(message: Message, zone: DifferentialZone): string {
  const section = (records: readonly MessageRecord[]): string =>
    [...new Set(records.map(({ name, type, ttl, data }) => `${name} ${ttl} ${type} ${data}`.toLowerCase()))]
      .sort()
      .join(", ");
  const glue = message.additional.filter(({ name }) => isGlue(name, message, zone));
  return `${headerText(message)} answer {${section(message.answers)}} authority {${section(message.authority)}} glue {${section(glue)}}`;
}

/** Addresses that a referral cannot do without (RFC 9471): those of servers at or below the cut. */
function isGlue(name: string, { authority }: Message, zone: DifferentialZone): boolean {
  const cut = authority.find(({ type, name: owner }) => type === "NS" && owner.toLowerCase() !== zone.origin);
  if (cut === undefined) return false;
  const [low, owner] = [name.toLowerCase(), cut.name.toLowerCase()];
  return low === owner || low.endsWith(`.${owner}`);
}

function randomZones(count: number): DifferentialZone[] {
  const random = new Simulation({ seed }).random("zones");
  return Array.from({ length: count }, (_, index) => randomZone(`z${index}.test`, random));
}

function namedConfig(port: number): string {
  const stanzas = zones.map(
    ({ origin }) =>
      `zone "${origin}" { type primary; file "${path.join(folder, origin)}"; check-names ignore; };`,
  );
  return `options {
  directory "${folder}"; pid-file none; session-keyfile none; managed-keys-directory "${folder}";
  listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
  recursion no; minimal-responses yes; minimal-any no; notify no; zero-no-soa-ttl no; empty-zones-enable no;
  check-integrity no; check-wildcard no; check-sibling no; check-mx ignore; check-mx-cname ignore; check-srv-cname ignore;
  answer-cookie no; tcp-initial-timeout 1200; tcp-idle-timeout 1200;
};
controls { };
${stanzas.join("\n")}
`;
}
