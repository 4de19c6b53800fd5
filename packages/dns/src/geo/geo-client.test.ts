import assert from "node:assert/strict";
import { test } from "node:test";
import { compileGeo } from "./compile-geo.ts";
import { GeoClient } from "./geo-client.ts";
import { networkFromText } from "./geo-network.ts";

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

test("G-05: the subnet where there is one with a prefix, else the address that asked", () => {
  assert.deepEqual(read(undefined), ["203.0.113.9", false]);
  assert.deepEqual(read([0, 1, 24, 0, 192, 0, 2]), ["192.0.2.0", true]);
  assert.deepEqual(read([0, 1, 32, 0, 192, 0, 2, 7]), ["192.0.2.7", true]);
  assert.deepEqual(read([0, 2, 20, 0, 0x20, 0x01, 0x0d]), ["32.1.13.0.0.0.0.0.0.0.0.0.0.0.0.0", true]);
  assert.deepEqual(read([0, 1, 0, 0]), ["203.0.113.9", false]);
  assert.deepEqual(read([0, 0, 0, 0]), ["203.0.113.9", false]);
});

test("only listed resolvers are believed, whichever way their address is written", async () => {
  const trusted = ["203.0.113.0/28", "2001:db8::/32"]
    .map(networkFromText)
    .filter((each) => typeof each !== "string");
  const client = new GeoClient();
  client.update(await compileGeo({ fields: [], trusted }));
  const question = { input: Uint8Array.of(0, 1, 24, 0, 192, 0, 2), subnetAt: 0, subnetLength: 7 };
  for (const [address, isBelieved] of [
    ["203.0.113.9", true],
    ["203.0.113.19", false],
    ["::ffff:203.0.113.9", true],
    ["2001:db8::9", true],
    ["2001:db9::9", false],
  ] as const) {
    const network = networkFromText(address);
    assert.ok(typeof network !== "string");
    client.read(question, network);
    assert.equal(client.bySubnet, isBelieved, address);
    assert.equal(client.octets[0], isBelieved ? 192 : network.octets[0], address);
  }
});
