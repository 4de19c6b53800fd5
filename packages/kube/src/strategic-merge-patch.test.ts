import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { deepEqual } from "./deep-equal.ts";
import type { Json } from "./json.ts";
import { applyMergePatch } from "./merge-patch.ts";
import { applyStrategicMergePatch } from "./strategic-merge-patch.ts";
import { countedItems } from "./testdata/counted-items.ts";
import { patchSchemaOf } from "./testdata/patch-schemas.ts";

const pod = patchSchemaOf({ group: "", kind: "Pod" });
const service = patchSchemaOf({ group: "", kind: "Service" });
const deployment = patchSchemaOf({ group: "apps", kind: "Deployment" });

const inPod = (spec: Json): Json => ({ spec });
const containers = (...items: Json[]): Json => inPod({ containers: items });

const cases: readonly { name: string; target: Json; patch: Json; result: Json }[] = [
  {
    name: "containers merge by name",
    target: containers({ name: "a", image: "v1" }, { name: "b", image: "v1" }),
    patch: containers({ name: "b", image: "v2" }, { name: "c", image: "v1" }),
    result: containers({ name: "a", image: "v1" }, { name: "b", image: "v2" }, { name: "c", image: "v1" }),
  },
  {
    name: "an item with $patch: delete goes",
    target: containers({ name: "a" }, { name: "b" }),
    patch: containers({ name: "a", $patch: "delete" }),
    result: containers({ name: "b" }),
  },
  {
    name: "a list with an item $patch: replace is replaced",
    target: containers({ name: "a" }, { name: "b" }),
    patch: containers({ name: "c" }, { $patch: "replace" }),
    result: containers({ name: "c" }),
  },
  {
    name: "an object with $patch: replace is replaced",
    target: { metadata: { labels: { a: "1" }, name: "x" } },
    patch: { metadata: { labels: { b: "2", $patch: "replace" } } },
    result: { metadata: { labels: { b: "2" }, name: "x" } },
  },
  {
    name: "an object with $patch: delete is emptied",
    target: { metadata: { labels: { a: "1" } } },
    patch: { metadata: { labels: { $patch: "delete" } } },
    result: { metadata: { labels: {} } },
  },
  {
    name: "null deletes",
    target: { metadata: { labels: { a: "1", b: "2" } } },
    patch: { metadata: { labels: { a: null } } },
    result: { metadata: { labels: { b: "2" } } },
  },
  {
    name: "a list without merge key is replaced",
    target: containers({ name: "a", args: ["x", "y"] }),
    patch: containers({ name: "a", args: ["z"] }),
    result: containers({ name: "a", args: ["z"] }),
  },
  {
    name: "environment variables merge by name inside a merged container",
    target: containers({ name: "a", env: [{ name: "X", value: "1" }] }),
    patch: containers({ name: "a", env: [{ name: "Y", value: "2" }] }),
    result: containers({
      name: "a",
      env: [
        { name: "X", value: "1" },
        { name: "Y", value: "2" },
      ],
    }),
  },
  {
    name: "$setElementOrder orders, and what only the server knows keeps its place before its successor",
    target: containers({ name: "a" }, { name: "x" }, { name: "b" }, { name: "y" }),
    patch: inPod({
      "$setElementOrder/containers": [{ name: "b" }, { name: "a" }],
      containers: [{ name: "a", image: "v2" }],
    }),
    result: containers({ name: "x" }, { name: "b" }, { name: "a", image: "v2" }, { name: "y" }),
  },
  {
    name: "$setElementOrder alone reorders",
    target: { metadata: { finalizers: ["a", "b", "c"] } },
    patch: { metadata: { "$setElementOrder/finalizers": ["c", "b", "a"] } },
    result: { metadata: { finalizers: ["c", "b", "a"] } },
  },
  {
    name: "finalizers merge as a set",
    target: { metadata: { finalizers: ["a", "b"] } },
    patch: { metadata: { finalizers: ["b", "c"] } },
    result: { metadata: { finalizers: ["a", "b", "c"] } },
  },
  {
    name: "$deleteFromPrimitiveList removes scalars",
    target: { metadata: { finalizers: ["a", "b"] } },
    patch: { metadata: { "$deleteFromPrimitiveList/finalizers": ["a"], finalizers: ["c"] } },
    result: { metadata: { finalizers: ["b", "c"] } },
  },
  {
    name: "$retainKeys drops the other members of a union",
    target: inPod({ volumes: [{ name: "v", emptyDir: {} }] }),
    patch: inPod({ volumes: [{ name: "v", hostPath: { path: "/x" }, $retainKeys: ["name", "hostPath"] }] }),
    result: inPod({ volumes: [{ name: "v", hostPath: { path: "/x" } }] }),
  },
  {
    name: "conditions merge by type",
    target: { status: { conditions: [{ type: "Ready", status: "False" }] } },
    patch: {
      status: {
        conditions: [
          { type: "Ready", status: "True" },
          { type: "Synced", status: "True" },
        ],
      },
    },
    result: {
      status: {
        conditions: [
          { type: "Ready", status: "True" },
          { type: "Synced", status: "True" },
        ],
      },
    },
  },
  {
    name: "directives vanish where there was nothing to merge with",
    target: {},
    patch: containers({ name: "a" }, { name: "b", $patch: "delete" }),
    result: containers({ name: "a" }),
  },
];

for (const { name, target, patch, result } of cases) {
  test(name, () => {
    const before = structuredClone(target);
    assert.deepEqual(applyStrategicMergePatch(target, patch, pod), result);
    assert.deepEqual(target, before);
  });
}

test("service ports merge by port", () => {
  const target = { spec: { ports: [{ port: 80, name: "http" }] } };
  const patch = { spec: { ports: [{ port: 443, name: "https" }] } };
  const { spec } = applyStrategicMergePatch(target, patch, service) as { spec: { ports: Json[] } };
  assert.equal(spec.ports.length, 2);
});

test("a deployment's pod template has the pod's merge keys", () => {
  const template = (image: string): Json => ({
    spec: { template: { spec: { containers: [{ name: "a", image }] } } },
  });
  assert.deepEqual(applyStrategicMergePatch(template("v1"), template("v2"), deployment), template("v2"));
});

const refused: readonly [name: string, patch: Json][] = [
  ["an unknown directive", { metadata: { $patch: "explode" } }],
  ["an item without its merge key", containers({ image: "v2" })],
  ["a scalar where items have a merge key", containers("a")],
  [
    "an item missing in $setElementOrder",
    inPod({ "$setElementOrder/containers": [{ name: "b" }], containers: [{ name: "a" }] }),
  ],
  [
    "a field missing in $retainKeys",
    inPod({ volumes: [{ name: "v", emptyDir: {}, $retainKeys: ["name"] }] }),
  ],
  ["no object", [1]],
];

for (const [name, patch] of refused) {
  test(`${name} is refused with 400`, () => {
    assert.throws(() => applyStrategicMergePatch(containers({ name: "a" }), patch, pod), { code: 400 });
  });
}

test("without merge keys and directives it is a merge patch", () => {
  const object = fc.dictionary(fc.stringMatching(/^[a-z]{1,2}$/), fc.jsonValue({ maxDepth: 3 }));
  fc.assert(
    fc.property(object, object, (target, patch) => {
      const expected = applyMergePatch(target as Json, patch as Json);
      const actual = applyStrategicMergePatch(target as Json, patch as Json, {});
      assert.ok(deepEqual(actual, expected), JSON.stringify({ actual, expected }));
    }),
  );
});

test("merging and ordering a long list reads each of its items a few times", () => {
  const names = Array.from({ length: 300 }, (_, index) => `c${index}`);
  const { items, reads } = countedItems("name", names);
  const patch = {
    spec: {
      containers: names.map((name) => ({ name, image: "v2" })),
      "$setElementOrder/containers": names.toReversed().map((name) => ({ name })),
    },
  };
  const merged = applyStrategicMergePatch({ spec: { containers: items } }, patch, pod);
  assert.equal((merged as { spec: { containers: Json[] } }).spec.containers.length, names.length);
  assert.ok(reads() <= 10 * names.length, `${reads()} reads of ${names.length} items`);
});
