import type { AnswerDatagram } from "../network.ts";
import { MmsgBatch } from "../node/mmsg/mmsg-batch.ts";
import { openMmsgSocket } from "../node/mmsg/mmsg-socket.ts";
import { composeSocketAddress } from "../node/mmsg/socket-address.ts";

/*
 * Sends as many datagrams as are asked for to a socket of its own, collecting garbage all the while, and checks each
 * octet of each. Run with --expose-gc.
 */

const total = Number(process.argv[2]);
const collect = (globalThis as { readonly gc?: (options?: { type: "minor" }) => void }).gc;
if (collect === undefined) throw new Error("run with --expose-gc");

using server = openMmsgSocket({ address: "127.0.0.1", port: 0 });
using client = openMmsgSocket({ address: "127.0.0.1", port: 0 });
using batch = new MmsgBatch(server.descriptor);
using sender = new MmsgBatch(client.descriptor);
const to = composeSocketAddress(server.local) ?? new Uint8Array();

let garbage: unknown[] = [];
let answered = 0;
let wrong = 0;

/** Octets that tell their number and place. */
function fill(octets: Uint8Array, number: number): void {
  for (let at = 0; at < octets.length; at++) octets[at] = number + at * 7;
}

// oxlint-disable-next-line max-params -- the shape of AnswerDatagram
const echo: AnswerDatagram = (input, offset, length, _client, output) => {
  // Short-lived and longer-lived garbage, some of it as large as what native code holds.
  garbage.push(new ArrayBuffer(4_096), Array.from({ length: 32 }));
  for (let at = 0; at < length; at++) output[at] = input[offset + at]!;
  return length;
};

const expected = new Uint8Array(1_500);
// oxlint-disable-next-line max-params -- the shape of AnswerDatagram
const check: AnswerDatagram = (input, offset, length) => {
  const number = input[offset]!;
  fill(expected, number);
  let same = length === sizeOf(number);
  for (let at = 0; at < length; at++) same &&= input[offset + at] === expected[at];
  if (!same) wrong++;
  answered++;
  return 0;
};

function sizeOf(number: number): number {
  return 12 + ((number * 37) % 1_400);
}

for (let sent = 0; sent < total;) {
  const window = Math.min(64, total - sent);
  for (let index = 0; index < window; index++, sent++) {
    const datagram = new Uint8Array(sizeOf(sent & 0xff));
    fill(datagram, sent & 0xff);
    sender.reply(to, datagram);
  }
  if (sent % 256 === 0) collect({ type: "minor" });
  if (sent % 4_096 === 0) {
    garbage = [];
    collect();
  }
  for (let tries = 0; batch.received < sent && tries < 250; tries++)
    batch.serve(echo, { wait: true });
  for (let tries = 0; answered < sent && tries < 250; tries++)
    sender.serve(check, { wait: true });
}
process.stdout.write(`${answered} answered, ${wrong} wrong\n`);
