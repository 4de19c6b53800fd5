import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { formatMicroTime, formatTime, parseTime } from "./timestamp.ts";

const times: readonly [text: string, ms: number | undefined][] = [
  ["2026-01-02T03:04:05Z", Date.UTC(2026, 0, 2, 3, 4, 5)],
  ["2026-01-02T03:04:05.678Z", Date.UTC(2026, 0, 2, 3, 4, 5, 678)],
  ["2026-01-02T03:04:05.678123Z", Date.UTC(2026, 0, 2, 3, 4, 5, 678) + 0.123],
  ["2026-01-02T03:04:05.678123999Z", Date.UTC(2026, 0, 2, 3, 4, 5, 678) + 0.123],
  ["2026-01-02T05:04:05+02:00", Date.UTC(2026, 0, 2, 3, 4, 5)],
  ["2026-01-02t03:04:05z", Date.UTC(2026, 0, 2, 3, 4, 5)],
  ["2026-02-30T00:00:00Z", undefined],
  ["2026-01-02 03:04:05Z", undefined],
  ["2026-01-02T03:04:05", undefined],
  ["2026-01-02", undefined],
  ["", undefined],
];

for (const [text, ms] of times) {
  test(`"${text}" is ${ms ?? "no time"}`, () => {
    const parsed = parseTime(text);
    if (ms === undefined) assert.equal(parsed, undefined);
    else assert.ok(Math.abs((parsed ?? NaN) - ms) < 0.001);
  });
}

test("times are written in whole seconds and micro times with six decimals", () => {
  const ms = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
  assert.equal(formatTime(ms), "2026-01-02T03:04:05Z");
  assert.equal(formatMicroTime(ms), "2026-01-02T03:04:05.678000Z");
});

test("a micro time reads back to the same time", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4e12 }), (ms) => {
      assert.equal(parseTime(formatMicroTime(ms)), ms);
    }),
  );
});
