import assert from "node:assert/strict";
import { parseMessage } from "../message/message.ts";

/** Octets of OPT without options, and of the part that has flags. */
const optOctets = 11;

/**
 * What holds for every answer, whatever was asked: id, opcode and RD repeated, QR set, all other flags but AA and TC clear,
 * at most the first question and that one bit for bit, OPT only for OPT, no datagram longer than ours may be,
 * and the TTL of a negative answer from the zone.
 */
export function assertSound(asked: Uint8Array, reply: Uint8Array, transport: "udp" | "tcp" = "udp"): void {
  const message = parseMessage(reply);
  const octetsMax = message.edns === undefined ? 512 : 1232;
  assert.ok(transport === "tcp" || reply.length <= octetsMax, `${reply.length} octets`);
  assert.deepEqual([...reply.subarray(0, 2)], [...asked.subarray(0, 2)], "id");
  assert.equal(reply[2]! & 0xf9, 0x80 | (asked[2]! & 0x79), "QR, opcode and RD");
  assert.equal(reply[3]! & 0xf0, 0, "RA, Z, AD and CD");
  assert.ok(message.questions.length <= 1);
  if (message.questions.length === 1) {
    const end = 12 + nameOctets(reply) + 4;
    assert.deepEqual(reply.subarray(12, end), asked.subarray(12, end), "the question");
  }
  for (const { type, ttl } of message.authority)
    if (type === "SOA") assert.equal(ttl, 30, "the negative TTL");
  if (message.edns === undefined) return;
  assert.ok((asked[10]! << 8) + asked[11]! > 0, "OPT without OPT");
  assert.deepEqual([message.edns.version, message.edns.payloadSize], [0, 1232]);
  const { options } = message.edns;
  const optionOctets = options.reduce((sum, { octets }) => sum + 4 + octets.length, 0);
  const optAt = reply.length - optionOctets - optOctets;
  assert.equal(reply[optAt + 7]! & 0x7f, 0, "flags of OPT besides DO");
  assert.equal(reply[optAt + 8], 0, "flags of OPT besides DO");
}

function nameOctets(message: Uint8Array): number {
  let at = 12;
  while (message[at]! > 0) at += message[at]! + 1;
  return at + 1 - 12;
}
