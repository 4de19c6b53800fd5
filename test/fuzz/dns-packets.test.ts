import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Authority,
  DnsError,
  composeMessage,
  parseMessage,
  parseZoneFile,
  type Message,
} from "@meridian/dns";
import { ReusedClient } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import { handWritten } from "../conformance/differential-zones.ts";
import { dnsSamples } from "./dns-samples.ts";
import { fuzzRuns, fuzzSeed, seededIntegers } from "./fuzz-seed.ts";
import { mutateOctets } from "./octet-mutator.ts";

const packets = 200_000 * fuzzRuns;
const margin = 32;

function authorityOfZone(): Authority {
  const { runtime } = new Simulation({ seed: fuzzSeed }).node({ name: "dns", addresses: ["192.0.2.53"] });
  const authority = new Authority({
    random: runtime.random,
    clock: runtime.clock,
    version: "1",
    serverId: "id",
    rateLimit: false,
  });
  const { zone, problems } = parseZoneFile(handWritten.text);
  assert.ok(zone !== undefined, JSON.stringify(problems));
  authority.setZone(zone);
  return authority;
}

test(`${packets} mutated packets: each answer is well-formed, bounded and to the question (seed ${fuzzSeed})`, () => {
  const authority = authorityOfZone();
  const integer = seededIntegers("packets");
  const input = new Uint8Array(8_192);
  const output = new Uint8Array(65_535);
  const probe = dnsSamples[0]!;
  const client = new ReusedClient("udp", { address: "192.0.2.200", port: 40_000 });
  for (let index = 0; index < packets; index++) {
    const isProbe = index % 1_000 === 999;
    const packet = isProbe ? probe : mutateOctets(dnsSamples, integer);
    client.transport = integer(4) === 0 && !isProbe ? "tcp" : "udp";
    input.fill(0xee, 0, packet.length + 2 * margin);
    input.set(packet, margin);
    const length = authority.answer(input, margin, packet.length, client, output);
    const told = (): string =>
      `packet ${index} over ${client.transport}: ${Buffer.from(packet).toString("hex")}`;
    if (length === 0) {
      assert.ok(packet.length < 12 || (packet[2]! & 0x80) !== 0, `silence for ${told()}`);
      continue;
    }
    assert.ok(length >= 12 && (client.transport === "tcp" || length <= 1_232), told());
    const reply = parsed(output.subarray(0, length), told);
    assert.ok(reply.response && !reply.recursionAvailable && !reply.authenticData, told());
    assert.equal(reply.id, (packet[0]! << 8) | packet[1]!, told());
    assert.notEqual(reply.rcode, 2, `SERVFAIL for ${told()}`);
    assert.ok(reply.questions.length <= 1, told());
    if (isProbe) assert.equal(reply.answers.length, 2, told());
    const untouched = input.subarray(margin, margin + packet.length);
    assert.ok(Buffer.from(untouched).equals(packet), `the input was changed: ${told()}`);
  }
});

test("what the parser reads from mutated packets it writes and reads again as the same", () => {
  const integer = seededIntegers("parser");
  let sound = 0;
  for (let index = 0; index < packets / 4; index++) {
    const packet = mutateOctets(dnsSamples, integer);
    let message: Message;
    try {
      message = parseMessage(packet);
    } catch (error) {
      if (error instanceof DnsError) continue;
      throw new Error(`packet ${index}: ${Buffer.from(packet).toString("hex")}`, { cause: error });
    }
    sound++;
    try {
      assert.deepEqual(parseMessage(composeMessage(message)), message);
    } catch (error) {
      throw new Error(`packet ${index} changed: ${Buffer.from(packet).toString("hex")}`, { cause: error });
    }
  }
  assert.ok(sound > packets / 40, `only ${sound} packets could be read: the mutations are too wild`);
});

function parsed(octets: Uint8Array, told: () => string): Message {
  try {
    return parseMessage(octets);
  } catch (error) {
    throw new Error(`malformed answer ${Buffer.from(octets).toString("hex")} to ${told()}`, { cause: error });
  }
}
