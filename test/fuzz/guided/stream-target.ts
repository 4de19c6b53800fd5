import assert from "node:assert/strict";
import { Authority, parseMessage, serveDns } from "@meridian/dns";
import type { StreamServer, StreamServerOptions, UdpServerOptions } from "@meridian/runtime";
import { framesOf, fuzzRuntime, fuzzZone, HeldConnection, inPieces } from "./fuzz-world.ts";

let accept: StreamServerOptions["onConnection"] | undefined;
const runtime = fuzzRuntime({
  network: {
    serveStreams: async ({ onConnection, address, port }): Promise<StreamServer> => {
      accept = onConnection;
      return {
        local: { address, port },
        stop() {},
        setTls() {},
        [Symbol.asyncDispose]: async () => {},
      };
    },
    serveUdp: async ({ address, port }: UdpServerOptions) => ({
      local: { address, port },
      [Symbol.asyncDispose]: async () => {},
    }),
  },
});
const authority = new Authority({ ...runtime, rateLimit: false });
authority.setZone(fuzzZone());
await serveDns(runtime, {
  authority,
  listen: [{ address: "192.0.2.53", port: 53 }],
  proxies: ["192.0.2.128/25"],
});
assert.ok(accept !== undefined);

/**
 * What a client sends over TCP: the first octet chooses whether it is a proxy and whether it takes its answers, the next how
 * many cuts follow. However the octets are cut, and however slowly it takes the answers, those are the same.
 */
export function fuzz(given: Uint8Array): void {
  const [how = 0, cuts = 0] = given;
  const octets = Uint8Array.from(given.subarray(2 + (cuts & 31)));
  const lengths = given.subarray(2, 2 + (cuts & 31));
  const address = (how & 1) === 0 ? "192.0.2.1" : "192.0.2.200";
  const atOnce = converse([octets.slice()], { address, isSlow: false });
  const inParts = converse(inPieces(octets, lengths), { address, isSlow: (how & 2) !== 0 });
  assert.equal(inParts.ended, atOnce.ended);
  for (const frame of inParts.frames) assert.ok(parseMessage(frame).response);
  // A broken stream is reset with what was not sent yet.
  if (atOnce.ended === "ended") assert.deepEqual(inParts.frames.map(headOf), atOnce.frames.map(headOf));
}

function converse(
  pieces: readonly Uint8Array[],
  { address, isSlow }: { readonly address: string; readonly isSlow: boolean },
): { readonly frames: readonly Uint8Array[]; readonly ended: HeldConnection["ended"] } {
  const connection = new HeldConnection({ address, port: 4_000 });
  const sink = accept!(connection);
  for (const piece of pieces) {
    if (connection.ended !== "open") break;
    connection.congested = isSlow;
    sink.onOctets(piece);
    piece.fill(0xee);
    for (let drains = 0; connection.congested && drains < 1_000 && connection.ended === "open"; drains++) {
      connection.congested = false;
      sink.onDrain();
    }
  }
  if (connection.ended === "open") sink.onEnd();
  assert.notEqual(connection.ended, "open", "the server keeps what the client has ended");
  sink.onClose();
  return { frames: framesOf(connection.sent), ended: connection.ended };
}

/** All but the order of the records, which rotates. */
function headOf(frame: Uint8Array): unknown {
  return [frame.length, ...frame.subarray(0, 12)];
}
