import assert from "node:assert/strict";
import { answerProxied, Authority, parseMessage, ProxySources } from "@meridian/dns";
import { ReusedClient, type DatagramClient } from "@meridian/runtime";
import { fuzzRuntime, fuzzZone } from "./fuzz-world.ts";

const authority = new Authority({ ...fuzzRuntime(), rateLimit: false });
authority.setZone(fuzzZone());
const output = new Uint8Array(65_535);
const proxy = new ReusedClient("udp", { address: "192.0.2.200", port: 40_000 });
const asked: { readonly client: DatagramClient; readonly message: Uint8Array }[] = [];
const answer = answerProxied(
  // oxlint-disable-next-line max-params -- the shape of AnswerDatagram
  (input, offset, length, client, into) => {
    asked.push({ client, message: input.subarray(offset, offset + length) });
    return authority.answer(input, offset, length, client, into);
  },
  new ProxySources(["192.0.2.200"]),
);

/** A datagram from a proxy: what is answered lies within it and behind a whole header, from a client that has an address. */
export function fuzz(given: Uint8Array): void {
  const datagram = Uint8Array.from(given);
  asked.length = 0;
  const length = answer(datagram, 0, datagram.length, proxy, output);
  const [passed] = asked;
  if (passed === undefined) {
    assert.equal(length, 0);
    return;
  }
  const { client, message } = passed;
  const headerOctets = datagram.length - message.length;
  assert.ok(headerOctets >= 16 && headerOctets <= 512);
  assert.ok(client.address.length > 0 && client.port >= 0 && client.port < 65_536);
  if (length > 0) assert.ok(length <= 1_232 && parseMessage(output.subarray(0, length)).response);
}
