import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { deepEqual, freeze } from "./deep-equal.ts";

const cases: readonly [a: unknown, b: unknown, equal: boolean][] = [
  [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
  [{ a: 1, b: undefined }, { a: 1 }, true],
  [{ a: 1 }, { a: 1, b: null }, false],
  [{ a: undefined }, { b: undefined }, true],
  [{ a: 1, b: undefined }, { a: 1, c: 1 }, false],
  [[1, 2], [2, 1], false],
  [[], {}, false],
  [null, {}, false],
  ["1", 1, false],
  [{ toString: 1 }, {}, false],
  [{}, { constructor: {} }, false],
];

for (const [a, b, equal] of cases) {
  test(`${JSON.stringify(a)} and ${JSON.stringify(b)} are ${equal ? "" : "not "}equal`, () => {
    assert.equal(deepEqual(a, b), equal);
    assert.equal(deepEqual(b, a), equal);
  });
}

test("a value equals its copy", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => assert.ok(deepEqual(value, structuredClone(value)))));
});

test("a frozen value cannot be changed anywhere", () => {
  const value = freeze({ a: [{ b: 1 }] });
  assert.throws(() => {
    Object.assign(value.a[0] ?? {}, { b: 2 });
  }, TypeError);
});
