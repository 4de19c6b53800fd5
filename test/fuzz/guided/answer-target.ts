import assert from "node:assert/strict";
import { Authority, parseMessage, parseZoneFile } from "@meridian/dns";
import { ReusedClient } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import { handWritten } from "../../conformance/differential-zones.ts";

const { runtime } = new Simulation({ seed: 1 }).node({ name: "dns", addresses: ["192.0.2.53"] });
const authority = new Authority({ ...runtime, version: "1", serverId: "id", rateLimit: false });
const { zone } = parseZoneFile(handWritten.text);
assert.ok(zone !== undefined);
authority.setZone(zone);
const output = new Uint8Array(65_535);
const client = new ReusedClient("udp", { address: "192.0.2.200", port: 40_000 });

/** The first octet chooses the transport, the rest is the message: what comes back is well-formed, bounded and ours. */
export function fuzz(given: Uint8Array): void {
  client.transport = (given[0]! & 1) === 0 ? "udp" : "tcp";
  const message = Uint8Array.from(given.subarray(1));
  const length = authority.answer(message, 0, message.length, client, output);
  if (length === 0) {
    assert.ok(message.length < 12 || (message[2]! & 0x80) !== 0, "silence for a question");
    return;
  }
  assert.ok(length >= 12 && (client.transport === "tcp" || length <= 1_232), `${length} octets`);
  const reply = parseMessage(output.subarray(0, length));
  assert.ok(reply.response && !reply.recursionAvailable && !reply.authenticData);
  assert.equal(reply.id, (message[0]! << 8) | message[1]!);
  assert.notEqual(reply.rcode, 2);
  assert.equal(authority.counters.faults, 0);
}
