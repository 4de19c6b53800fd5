import assert from "node:assert/strict";
import { test } from "node:test";
import { humanDuration } from "./human-duration.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const cases: readonly [ms: number, text: string][] = [
  [-2 * second, "<invalid>"],
  [-1 * second, "0s"],
  [0, "0s"],
  [119 * second, "119s"],
  [2 * minute, "2m"],
  [2 * minute + 30 * second, "2m30s"],
  [10 * minute + 59 * second, "10m"],
  [179 * minute, "179m"],
  [3 * hour, "3h"],
  [7 * hour + 59 * minute, "7h59m"],
  [8 * hour + 59 * minute, "8h"],
  [47 * hour, "47h"],
  [2 * day, "2d"],
  [2 * day + 3 * hour, "2d3h"],
  [8 * day + 5 * hour, "8d"],
  [729 * day, "729d"],
  [730 * day, "2y"],
  [800 * day, "2y70d"],
  [9 * 365 * day, "9y"],
];

for (const [ms, text] of cases) test(`${ms} ms is ${text}`, () => assert.equal(humanDuration(ms), text));
