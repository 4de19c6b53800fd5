import assert from "node:assert/strict";
import { test } from "node:test";
import { GeoClient } from "./geo-client.ts";

const from = {
  octets: Uint8Array.from([203, 0, 113, 9, ...Array<number>(12).fill(0)]),
  octetCount: 4,
} as const;

function read(option: readonly number[] | undefined): readonly [string, boolean] {
  const client = new GeoClient();
  const input = Uint8Array.from([9, 9, 9, ...(option ?? [])]);
  client.read({ input, subnetAt: option === undefined ? -1 : 3, subnetLength: option?.length ?? 0 }, from);
  return [client.octets.subarray(0, client.octetCount).join("."), client.bySubnet];
}

test("the subnet where there is one with a prefix, else the address that asked", () => {
  assert.deepEqual(read(undefined), ["203.0.113.9", false]);
  assert.deepEqual(read([0, 1, 24, 0, 192, 0, 2]), ["192.0.2.0", true]);
  assert.deepEqual(read([0, 1, 32, 0, 192, 0, 2, 7]), ["192.0.2.7", true]);
  assert.deepEqual(read([0, 2, 20, 0, 0x20, 0x01, 0x0d]), ["32.1.13.0.0.0.0.0.0.0.0.0.0.0.0.0", true]);
  assert.deepEqual(read([0, 1, 0, 0]), ["203.0.113.9", false]);
  assert.deepEqual(read([0, 0, 0, 0]), ["203.0.113.9", false]);
});
