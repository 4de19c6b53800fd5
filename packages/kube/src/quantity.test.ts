import assert from "node:assert/strict";
import { test } from "node:test";
import { parseQuantity } from "./quantity.ts";

const quantities: readonly [text: string, nanos: bigint | undefined][] = [
  ["0", 0n],
  ["1", 1_000_000_000n],
  ["100m", 100_000_000n],
  ["1.5", 1_500_000_000n],
  [".5", 500_000_000n],
  ["1Ki", 1_024_000_000_000n],
  ["1.5Gi", 1_610_612_736_000_000_000n],
  ["2e3", 2_000_000_000_000n],
  ["2E3", 2_000_000_000_000n],
  ["2E", 2_000_000_000_000_000_000_000_000_000n],
  ["1n", 1n],
  ["0.1n", 1n],
  ["-1k", -1_000_000_000_000n],
  ["", undefined],
  ["1 Gi", undefined],
  ["1gi", undefined],
  ["e3", undefined],
];

for (const [text, nanos] of quantities) {
  test(`"${text}" is ${nanos === undefined ? "no quantity" : `${nanos} billionths`}`, () => {
    assert.equal(parseQuantity(text)?.nanos, nanos);
  });
}
