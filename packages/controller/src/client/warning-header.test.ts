import assert from "node:assert/strict";
import { test } from "node:test";
import { warningsOf } from "./warning-header.ts";

const cases: readonly (readonly [string | undefined, readonly string[]])[] = [
  [undefined, []],
  ['299 - "unknown field \\"spec.foo\\""', ['unknown field "spec.foo"']],
  ['299 - "a, b", 299 kube-apiserver "c \\\\ d"', ["a, b", "c \\ d"]],
  ['110 proxy "stale", 299 - "one"', ["one"]],
  ["299 - no quotes", []],
];
for (const [header, expected] of cases) {
  test(`warnings in ${header ?? "no header"}`, () => {
    assert.deepEqual(warningsOf(header === undefined ? {} : { warning: header }), expected);
  });
}
