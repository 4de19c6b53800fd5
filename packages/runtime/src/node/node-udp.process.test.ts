import assert from "node:assert/strict";
import { Socket } from "node:dgram";
import { test } from "node:test";

import { silentLogger } from "../logger.ts";
import { deferred, type AnswerDatagram } from "../network.ts";
import { bindNodeUdp, serveNodeUdp } from "./node-udp.ts";

const address = "127.0.0.1";

// oxlint-disable-next-line max-params -- the shape of AnswerDatagram
const echo: AnswerDatagram = (input, offset, length, _client, output) => {
  if (input[offset] === 0) return deferred;
  output.set(input.subarray(offset, offset + length));
  return length;
};

test("G2: answers over the limit of what may wait to be sent are dropped and counted", async (context) => {
  let waiting = 0;
  context.mock.method(Socket.prototype, "getSendQueueSize", () => waiting);
  let lost = 0;
  let onLost = (): void => {};
  let onReply: (first: number) => void = () => {};
  const reply = (): Promise<number> => new Promise((resolve) => (onReply = resolve));
  await using server = await serveNodeUdp(
    {
      ...{ address, port: 0, answer: echo },
      defer: (message, _client, answer) => answer(message),
      onLost: () => {
        lost++;
        onLost();
      },
    },
    silentLogger,
  );
  await using client = await bindNodeUdp({
    ...{ address, port: 0, log: silentLogger },
    onDatagram: ([first = -1]) => onReply(first),
  });
  const send = (first: number): void => {
    // The client's own queue is empty.
    const before = waiting;
    waiting = 0;
    client.send(Uint8Array.of(first), server.local);
    waiting = before;
  };
  let replied = reply();
  send(1);
  assert.equal(await replied, 1);
  waiting = 5 * 1024 * 1024;
  for (const first of [2, 0]) {
    const dropped = new Promise<void>((resolve) => (onLost = resolve));
    send(first);
    await dropped;
  }
  waiting = 0;
  replied = reply();
  send(3);
  assert.equal(await replied, 3);
  assert.equal(lost, 2);
});
