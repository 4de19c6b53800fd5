import assert from "node:assert/strict";
import { test } from "node:test";
import { peerServers } from "./peer-servers.ts";

const cases: readonly {
  readonly edge: readonly number[];
  readonly addresses: readonly string[];
  readonly expect: readonly string[];
}[] = [
  { edge: [53], addresses: ["a"], expect: ["a:53"] },
  { edge: [1053], addresses: ["a"], expect: ["a:1053", "a:53"] },
  { edge: [53, 1053], addresses: ["a"], expect: ["a:53", "a:1053"] },
  { edge: [5300, 1053], addresses: ["a"], expect: ["a:5300", "a:1053", "a:53"] },
  { edge: [], addresses: ["a"], expect: ["a:53"] },
  { edge: [5300], addresses: ["a", "b"], expect: ["a:5300", "b:5300", "a:53", "b:53"] },
  { edge: [53], addresses: [], expect: [] },
];

for (const { edge, addresses, expect } of cases) {
  test(`edge ports ${edge.join() || "none"}: ${addresses.join() || "no address"} is asked at ${expect.join(" ") || "nothing"}`, () => {
    assert.deepEqual(
      peerServers(addresses, edge).map(({ address, port }) => `${address}:${port}`),
      expect,
    );
  });
}
