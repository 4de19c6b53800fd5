import assert from "node:assert/strict";
import { AnswerSigner, Authority, generateKey, parseMessage, ZoneKeys } from "@meridian/dns";
import { ReusedClient } from "@meridian/runtime";
import { fuzzRuntime, fuzzZone } from "./fuzz-world.ts";

const { clock, random, log } = fuzzRuntime();
const authority = new Authority({ random, clock, rateLimit: false });
const zone = fuzzZone();
authority.setZone(zone);
const times = { publish: 0, activate: 0 };
const own = [true, false].map((secureEntryPoint) => generateKey(random, { secureEntryPoint, times }));
// The clock stands still, and with it the budget.
const answers = new AnswerSigner({ clock, signaturesPerSecond: 1e9 });
const keys = { own, foreign: [] };
new ZoneKeys(zone, { keys }, { clock, log, answers });
const output = new Uint8Array(65_535);
const client = new ReusedClient("udp", { address: "192.0.2.200", port: 40_000 });

/** As the target `answer`, from a signed zone: no answer is without its signatures where they were asked for. */
export function fuzz(given: Uint8Array): void {
  client.transport = (given[0]! & 1) === 0 ? "udp" : "tcp";
  const message = Uint8Array.from(given.subarray(1));
  const length = authority.answer(message, 0, message.length, client, output);
  if (length === 0) return;
  assert.ok(length >= 12 && (client.transport === "tcp" || length <= 1_232), `${length} octets`);
  const reply = parseMessage(output.subarray(0, length));
  assert.equal(authority.counters.faults, 0);
  assert.notEqual(reply.rcode, 2);
  if (reply.edns?.dnssecOk !== true || !reply.authoritative || reply.truncated) return;
  const records = [...reply.answers, ...reply.authority];
  const isSigned = records.some(({ type }) => type === "RRSIG");
  assert.ok(
    isSigned || !records.some(({ name }) => /(^|\.)p\.test\.?$/i.test(name)),
    "an answer without signatures",
  );
}
