import { parentPort, workerData } from "node:worker_threads";
import { ReusedClient } from "@meridian/runtime";
import { parseMessage } from "../message/message.ts";
import { AnswerCore } from "../server/answer-core.ts";
import type { SharedAuthority } from "../server/shared-authority.ts";
import { question, steadyRandom, stillClock } from "./case-zone.ts";

/** What a reader is started with. */
export interface SwapReaderStart {
  readonly shared: SharedAuthority;
  /** One word: 1 once the reader is to stop. */
  readonly stop: SharedArrayBuffer;
}

/** What a reader saw. */
export interface SwapReaderReport {
  readonly answers: number;
  readonly generations: number;
  readonly faults: number;
  /** Answers that no generation of the zone gives; a few of them. */
  readonly torn: readonly string[];
}

/*
 * A thread that asks for `alias.z` as fast as it can while another replaces, in one batch each time, the alias, its target
 * `t<n>.z` and the target's address 10.x.y.z for n. Whatever it is told must be of one n.
 */
const start = workerData as SwapReaderStart;
const stop = new Int32Array(start.stop);
const core = new AnswerCore(start.shared, { random: steadyRandom, clock: stillClock, slot: 1 });
const client = new ReusedClient("udp", { address: "192.0.2.1", port: 4_000 });
const message = question("alias.z", "A", { edns: true });
const output = new Uint8Array(4_096);
const seen = new Set<string>();
const torn: string[] = [];
let answers = 0;
parentPort?.postMessage("started");
while (Atomics.load(stop, 0) === 0) {
  const length = core.answer(message, 0, message.length, client, output);
  answers++;
  const said = parseMessage(output.slice(0, Math.max(12, length)))
    .answers.map(({ type, data }) => `${type} ${data}`)
    .join(", ");
  const [, number, ...octets] = /^CNAME t(\d+)\.z\., A 10\.(\d+)\.(\d+)\.(\d+)$/.exec(said)?.map(Number) ?? [];
  if (number !== undefined && number === octets.reduce((sum, octet) => sum * 256 + octet, 0)) seen.add(said);
  else if (torn.length < 5) torn.push(said);
}
const faults = new Float64Array(start.shared.counters).reduce((sum, value, index) => sum + (index % 64 === 4 ? value : 0), 0);
parentPort?.postMessage({ answers, generations: seen.size, faults, torn } satisfies SwapReaderReport);
