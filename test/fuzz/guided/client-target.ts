import assert from "node:assert/strict";
import { DnsClient } from "@meridian/dns";
import type { Endpoint } from "@meridian/runtime";
import { answeringConnection, fuzzRuntime } from "./fuzz-world.ts";
import { fuzzKey } from "./request-signing.ts";

/** Of the event loop: more than all replies take. */
const turnsMax = 100;
let replies: readonly Uint8Array[] = [];
let next = 0;

/** The reply to a question: the next one given, with the id and, where its first octet says so, the question. */
function replyTo(asked: Uint8Array): Uint8Array | undefined {
  const given = replies[next++];
  if (given === undefined) return undefined;
  const reply = Uint8Array.from(given.subarray(1));
  reply.set(asked.subarray(0, 2).subarray(0, reply.length));
  if ((given[0]! & 1) === 0) return reply;
  let end = 12;
  while (asked[end]! > 0) end += asked[end]! + 1;
  return Buffer.concat([reply.subarray(0, 12), asked.subarray(12, end + 5), reply.subarray(12)]);
}

const runtime = fuzzRuntime({
  network: {
    bindUdp: async ({ onDatagram }) => ({
      local: { address: "192.0.2.53", port: 5_000 },
      send(datagram: Uint8Array, to: Endpoint) {
        const reply = replyTo(datagram);
        if (reply !== undefined) setImmediate(() => onDatagram(reply, to));
      },
      [Symbol.asyncDispose]: async () => {},
    }),
    connectTcp: async ({ to }) =>
      answeringConnection(to, (asked) => {
        const reply = replyTo(asked.subarray(2)) ?? new Uint8Array();
        return [Uint8Array.of(reply.length >> 8, reply.length), reply];
      }),
  },
});

/** Replies to one question, each behind a length octet: a verdict or, when no more come, the end of the waiting. */
export async function fuzz(given: Uint8Array): Promise<void> {
  const [how = 0, ...octets] = given;
  const found: Uint8Array[] = [];
  for (let at = 0; at < octets.length && found.length < 8;) {
    const end = at + 1 + octets[at]!;
    found.push(Uint8Array.from(octets.slice(at + 1, end)));
    at = end;
  }
  replies = found;
  next = 0;
  const stop = new AbortController();
  let turns = 0;
  // The clock stands still: nobody waits for replies that do not come.
  const wait = (): void => {
    if (++turns > turnsMax) stop.abort(new Error("no more replies"));
    else setImmediate(wait);
  };
  setImmediate(wait);
  await using client = new DnsClient(runtime);
  try {
    const verdict = await client.query({
      ...{ name: "www.p.test", type: (how & 1) === 0 ? "A" : "ANY", deadlineMs: 1_000 },
      servers: [{ address: "192.0.2.1", port: 53 }],
      transport: (how & 2) === 0 ? "udp" : "tcp",
      signal: stop.signal,
      ...((how & 4) === 0 ? {} : { key: fuzzKey }),
    });
    assert.ok((how & 4) === 0 || verdict.state !== "answered", "an unsigned reply was believed");
  } catch (error) {
    assert.equal(error, stop.signal.reason);
  } finally {
    turns = turnsMax;
  }
}
