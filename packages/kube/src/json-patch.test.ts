import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "./json.ts";
import { applyJsonPatch, jsonPatchOperationsMax } from "./json-patch.ts";

const target = { metadata: { resourceVersion: "7", labels: { a: "b" } }, items: [1, 2] };

const applied: readonly [name: string, patch: Json, result: Json][] = [
  [
    "add",
    [{ op: "add", path: "/metadata/labels/c", value: "d" }],
    { ...target, metadata: { resourceVersion: "7", labels: { a: "b", c: "d" } } },
  ],
  ["append", [{ op: "add", path: "/items/-", value: 3 }], { ...target, items: [1, 2, 3] }],
  ["insert", [{ op: "add", path: "/items/0", value: 0 }], { ...target, items: [0, 1, 2] }],
  ["remove", [{ op: "remove", path: "/items/0" }], { ...target, items: [2] }],
  ["replace", [{ op: "replace", path: "/items", value: [] }], { ...target, items: [] }],
  ["move", [{ op: "move", from: "/items", path: "/list" }], { metadata: target.metadata, list: [1, 2] }],
  ["copy", [{ op: "copy", from: "/items/1", path: "/last" }], { ...target, last: 2 }],
  [
    "escaped key",
    [{ op: "add", path: "/metadata/labels/x~1y~0z", value: "1" }],
    { ...target, metadata: { resourceVersion: "7", labels: { a: "b", "x/y~z": "1" } } },
  ],
  [
    "a passed test",
    [
      { op: "test", path: "/metadata/resourceVersion", value: "7" },
      { op: "remove", path: "/items" },
    ],
    { metadata: target.metadata },
  ],
  ["the whole document", [{ op: "replace", path: "", value: { x: 1 } }], { x: 1 }],
];

for (const [name, patch, result] of applied) {
  test(`${name} applies and leaves the target alone`, () => {
    const before = structuredClone(target);
    assert.deepEqual(applyJsonPatch(target, patch), result);
    assert.deepEqual(target, before);
  });
}

const refused: readonly [name: string, patch: Json, code: number][] = [
  ["a failed test", [{ op: "test", path: "/metadata/resourceVersion", value: "8" }], 422],
  ["a test of nothing", [{ op: "test", path: "/spec", value: 1 }], 422],
  ["remove of a missing path", [{ op: "remove", path: "/spec" }], 422],
  ["replace of a missing path", [{ op: "replace", path: "/spec", value: 1 }], 422],
  ["add under a missing path", [{ op: "add", path: "/spec/x", value: 1 }], 422],
  ["an index behind the end", [{ op: "add", path: "/items/9", value: 1 }], 422],
  ["an index with a leading zero", [{ op: "replace", path: "/items/00", value: 1 }], 422],
  ["copy from nowhere", [{ op: "copy", from: "/spec", path: "/x" }], 422],
  ["what objects inherit", [{ op: "add", path: "/toString/x", value: 1 }], 422],
  ["what arrays inherit", [{ op: "add", path: "/items/map/x", value: 1 }], 422],
  ["the prototype", [{ op: "add", path: "/__proto__/x", value: 1 }], 422],
  ["the prototype itself", [{ op: "add", path: "/__proto__", value: {} }], 422],
  ["no array", { op: "add" }, 400],
  ["an unknown op", [{ op: "append", path: "/x", value: 1 }], 400],
  ["a path without slash", [{ op: "add", path: "x", value: 1 }], 400],
  ["add without value", [{ op: "add", path: "/x" }], 400],
  ["move without from", [{ op: "move", path: "/x" }], 400],
];

for (const [name, patch, code] of refused) {
  test(`${name} is refused with ${code}`, () => {
    assert.throws(() => applyJsonPatch(target, patch), { name: "StatusError", code });
    assert.equal(Object.hasOwn(Object.prototype, "x"), false);
  });
}

test("a patch with too many operations is refused with 413", () => {
  const patch = Array.from({ length: jsonPatchOperationsMax + 1 }, () => ({
    op: "test",
    path: "/items/0",
    value: 1,
  }));
  assert.throws(() => applyJsonPatch(target, patch), { code: 413, message: /10000, got 10001/ });
});

test("copies that double the document again and again are refused with 413", () => {
  const patch: Json[] = [{ op: "add", path: "/x", value: ["a".repeat(1000)] }];
  for (let i = 0; i < 40; i++) patch.push({ op: "copy", from: "/x", path: "/x/-" });
  assert.throws(() => applyJsonPatch({}, patch), { code: 413 });
});
