import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import type { Message, MessageRecord, Question } from "@meridian/dns";
import { silentLogger } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { Simulation } from "@meridian/runtime/sim";
import { handWritten, occluded, randomZone, type DifferentialZone } from "./differential-zones.ts";
import { datapaths } from "./datapath.ts";
import { missingReferenceServers } from "./reference-servers.ts";
import { ServedBeside } from "./served-beside.ts";

// The same zones served by `meridian dns`, BIND, NSD and Knot. Where BIND and NSD agree, ours is the same answer; where
// they do not, the difference is on the list, with a reason.

const seed = Number(process.env["MERIDIAN_SEED"] ?? 1034);
const zones: readonly DifferentialZone[] = [
  handWritten,
  occluded,
  ...randomZones(Number(process.env["MERIDIAN_ZONES"] ?? 40)),
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
const missing = missingReferenceServers();
const skip = missing ?? false;
let folder: string;
let served: ServedBeside;

/** Where BIND and NSD may differ, and why ours is as it is. */
interface Difference {
  readonly reason: string;
  readonly applies: (round: Round) => boolean;
}

interface Round {
  readonly question: Question;
  readonly mine: string;
  /** In the order of `references`: BIND, NSD, Knot. */
  readonly theirs: readonly string[];
}

const listed: readonly Difference[] = [
  {
    reason: "an alias loop: BIND shows each alias once with SERVFAIL, the others with NOERROR, as ours does",
    applies: ({ mine, theirs: [bindText = ""] }) =>
      mine.startsWith("rcode 0") && bindText === mine.replace("rcode 0", "rcode 2"),
  },
  {
    reason: "NSD and Knot did not load the zone, since data stands below a DNAME; ours is BIND's answer",
    applies: ({ mine, theirs: [bindText, nsdText = ""] }) =>
      nsdText.startsWith("rcode 2  ") && mine === bindText,
  },
  {
    reason:
      "ANY over TCP: BIND's answer and ours have all sets, NSD's and Knot's have one (RFC 8482 allows both)",
    applies: ({ question, mine, theirs: [bindText] }) => question.type === "ANY" && mine === bindText,
  },
];

before(async () => {
  if (missing !== undefined) return;
  folder = await mkdtemp(path.join(tmpdir(), "meridian-differential-"));
  served = await ServedBeside.start(runtime, { folder, zones });
});

after(async () => {
  if (missing !== undefined) return;
  await served?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

test(`over TCP (${zones.length} zones, seed ${seed})`, { skip }, async (t) => {
  const comparison = new Comparison();
  for (const zone of zones) {
    for (const name of zone.names) {
      for (const type of zone === handWritten ? everyType : fewTypes) {
        const question = { name, type, class: 1 };
        const mine = await served.ours().overTcp(question);
        const theirs: string[] = [];
        for (const { exchange } of served.references)
          theirs.push(answerText(await exchange.overTcp(question), zone));
        comparison.add({ question, mine: answerText(mine, zone), theirs });
      }
    }
  }
  for (const line of comparison.summary()) t.diagnostic(line);
  comparison.assertNoDifference();
});

for (const datapath of datapaths)
  test(`over UDP, with and without EDNS (${datapath})`, { skip }, async (t) => {
    const comparison = new Comparison();
    for (const name of handWritten.names) {
      for (const type of ["A", "TXT", "DS"]) {
        for (const payloadSize of [undefined, 512, 1232]) {
          const edns =
            payloadSize === undefined
              ? {}
              : { edns: { payloadSize, version: 0, dnssecOk: false, options: [] } };
          const question = { name, type, class: 1 };
          const message = { questions: [question], recursionDesired: true, ...edns };
          const text = (answer: Message): string =>
            `${headerText(answer)} ${answer.edns === undefined ? "plain" : "edns"}`;
          const mine = await served.ours(datapath).overUdp(message);
          const theirs: string[] = [];
          for (const { exchange } of served.references) theirs.push(text(await exchange.overUdp(message)));
          comparison.add({ question, mine: text(mine), theirs });
        }
      }
    }
    for (const line of comparison.summary()) t.diagnostic(line);
    comparison.assertNoDifference();
  });

/** Counts what was asked, and keeps what must not be. */
class Comparison {
  #asked = 0;
  #agreed = 0;
  readonly #differences: string[] = [];
  readonly #excused = new Map<string, number>();

  add(round: Round): void {
    this.#asked++;
    const [bindText, nsdText] = round.theirs;
    if (round.mine === bindText && round.mine === nsdText) {
      this.#agreed++;
      return;
    }
    const reason =
      bindText === nsdText ? undefined : listed.find((difference) => difference.applies(round))?.reason;
    if (reason === undefined) this.#differences.push(this.#describe(round));
    else this.#excused.set(reason, (this.#excused.get(reason) ?? 0) + 1);
  }

  summary(): string[] {
    const excused = [...this.#excused].map(([reason, count]) => `${count}: ${reason}`);
    return [`${this.#asked} questions, BIND, NSD and ours alike: ${this.#agreed}`, ...excused];
  }

  assertNoDifference(): void {
    const count = this.#differences.length;
    const shown = this.#differences.slice(0, 20).join("\n");
    assert.ok(this.#asked > 0 && count === 0, `${count} of ${this.#asked}, seed ${seed}:\n${shown}`);
  }

  #describe({ question, mine, theirs }: Round): string {
    const lines = served.references.map(({ name }, index) => `  ${name}: ${theirs[index]}`);
    return [`${question.name} ${question.type}`, `  we: ${mine}`, ...lines].join("\n");
  }
}

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
