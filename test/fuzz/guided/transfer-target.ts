import assert from "node:assert/strict";
import { DnsError, ZoneTransferClient } from "@meridian/dns";
import { answeringConnection, fuzzRuntime, fuzzZone, inPieces } from "./fuzz-world.ts";

let stream: Uint8Array = new Uint8Array();
let lengths: Uint8Array = new Uint8Array();
const runtime = fuzzRuntime({
  network: {
    connectTcp: async ({ to }) =>
      answeringConnection(to, (asked) => inPieces(withIds(stream, asked[2]!, asked[3]!), lengths)),
  },
});
const client = new ZoneTransferClient(runtime, { recordsMax: 1_000, octetsMax: 100_000 });
const primaries = [{ address: "192.0.2.1", port: 53 }];

/**
 * What a primary sends: the first octet chooses AXFR or IXFR, the next how many cuts follow, and the rest is the stream,
 * whose first frames get the id asked for. It is a zone that can be served, or it is refused.
 */
export async function fuzz(given: Uint8Array): Promise<void> {
  const [how = 0, cuts = 0] = given;
  lengths = given.subarray(2, 2 + (cuts & 7));
  stream = Uint8Array.from(given.subarray(2 + (cuts & 7)));
  const asked = { zone: "p.test", primaries, ...((how & 1) === 0 ? {} : { haveSerial: 3 }) };
  const transfer = await client.fetchZone(asked);
  if (transfer.kind !== "whole") return;
  const { soa, sets } = transfer;
  assert.ok(sets.length <= 1_000 && sets.every(({ data }) => data.length > 0));
  const zone = fuzzZone();
  try {
    zone.replaceAll(soa, sets);
  } catch (error) {
    if (error instanceof DnsError) return;
    throw error;
  }
  assert.equal(zone.serial, soa.serial);
}

/** A primary that answers the question repeats its id. */
function withIds(octets: Uint8Array, high: number, low: number): Uint8Array {
  for (let at = 0; at + 3 < octets.length; at += 2 + ((octets[at]! << 8) | octets[at + 1]!)) {
    octets[at + 2] = high;
    octets[at + 3] = low;
  }
  return octets;
}
