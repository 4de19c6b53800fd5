import assert from "node:assert/strict";
import { test } from "node:test";
import { updateDelays } from "./update-delays.ts";

test("each arrival is held against the write that it tells of", () => {
  const writes = new Map([
    [1, [1_000_000, 3_000_000]],
    [2, [2_000_000]],
  ]);
  const arrivals = [
    [1, 1_004_000],
    [2, 2_001_500],
    [1, 3_000_500],
  ] as const;
  assert.deepEqual(updateDelays(arrivals, writes), { delaysMs: [4, 1.5, 0.5], unknown: 0 });
});

test("an update that nobody wrote is counted, and delays nothing", () => {
  const arrivals = [
    [1, 1_002_000],
    [1, 1_003_000],
    [9, 1_004_000],
  ] as const;
  assert.deepEqual(updateDelays(arrivals, new Map([[1, [1_000_000]]])), { delaysMs: [2], unknown: 2 });
});
