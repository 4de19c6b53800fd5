import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { deepEqual } from "./deep-equal.ts";
import type { Json } from "./json.ts";
import { applyMergePatch, createMergePatch } from "./merge-patch.ts";

/** RFC 7396, Appendix A. */
const appendixA: readonly [target: Json, patch: Json, result: Json][] = [
  [{ a: "b" }, { a: "c" }, { a: "c" }],
  [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
  [{ a: "b" }, { a: null }, {}],
  [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
  [{ a: ["b"] }, { a: "c" }, { a: "c" }],
  [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
  [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
  [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
  [
    ["a", "b"],
    ["c", "d"],
    ["c", "d"],
  ],
  [{ a: "b" }, ["c"], ["c"]],
  [{ a: "foo" }, null, null],
  [{ a: "foo" }, "bar", "bar"],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: "b", c: null }, { a: "b" }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
];

for (const [target, patch, result] of appendixA) {
  test(`${JSON.stringify(target)} patched with ${JSON.stringify(patch)}`, () => {
    assert.deepEqual(applyMergePatch(target, patch), result);
  });
}

test("a field named __proto__ stays a field", () => {
  const result = applyMergePatch({}, JSON.parse('{"__proto__":{"x":1}}') as Json);
  assert.deepEqual(JSON.stringify(result), '{"__proto__":{"x":1}}');
});

const withoutNull = fc
  .jsonValue({ maxDepth: 4 })
  .map((value) => JSON.parse(JSON.stringify(value, (_, member: unknown) => member ?? 0)) as Json);

test("the patch from one value to another leads there", () => {
  fc.assert(
    fc.property(withoutNull, withoutNull, (from, to) => {
      assert.ok(deepEqual(applyMergePatch(from, createMergePatch(from, to)), to));
    }),
  );
});

test("applying a patch twice is applying it once", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.jsonValue({ maxDepth: 4 }), (target, patch) => {
      const once = applyMergePatch(target as Json, patch as Json);
      assert.ok(deepEqual(applyMergePatch(once, patch as Json), once));
    }),
  );
});
