import assert from "node:assert/strict";
import { test } from "node:test";
import type { ObjectMeta } from "./metadata.ts";
import { validateObjectMeta, validateObjectMetaUpdate } from "./object-meta-validation.ts";
import { causesText } from "./status-errors.ts";

const base: ObjectMeta = { name: "x", namespace: "n" };
const owner = { apiVersion: "v1", kind: "Service", name: "s", uid: "1" };

const cases: readonly [name: string, metadata: ObjectMeta, expected: RegExp][] = [
  [
    "valid",
    { ...base, labels: { "k8gb.io/a": "b" }, finalizers: ["k8gb.io/f"], ownerReferences: [owner] },
    /^$/,
  ],
  ["no name", { namespace: "n" }, /^metadata.name: Required value: name or generateName is required$/],
  [
    "a bad name",
    { ...base, name: "X" },
    /^metadata.name: Invalid value: "X": a lowercase RFC 1123 subdomain/,
  ],
  ["no namespace", { name: "x" }, /^metadata.namespace: Required value$/],
  [
    "a bad label key",
    { ...base, labels: { "a b": "c" } },
    /^metadata.labels: Invalid value: "a b": name part/,
  ],
  [
    "a bad label value",
    { ...base, labels: { a: "b c" } },
    /^metadata.labels: Invalid value: "b c": a valid label/,
  ],
  [
    "large annotations",
    { ...base, annotations: { a: "x".repeat(262144) } },
    /^metadata.annotations: Too long: may not be more than 262144 bytes$/,
  ],
  ["a bad finalizer", { ...base, finalizers: ["a b"] }, /^metadata.finalizers: Invalid value: "a b"/],
  [
    "both propagation finalizers",
    { ...base, finalizers: ["orphan", "foregroundDeletion"] },
    /cannot be both set$/,
  ],
  [
    "an owner without uid",
    { ...base, ownerReferences: [{ ...owner, uid: "" }] },
    /^metadata.ownerReferences.uid: Invalid value: "": must not be empty$/,
  ],
  [
    "two controllers",
    {
      ...base,
      ownerReferences: [
        { ...owner, controller: true },
        { ...owner, name: "t", controller: true },
      ],
    },
    /Only one reference can have Controller set to true/,
  ],
  [
    "an event as owner",
    { ...base, ownerReferences: [{ ...owner, kind: "Event" }] },
    /disallowed from being an owner/,
  ],
];

for (const [name, metadata, expected] of cases) {
  test(`metadata with ${name}`, () => {
    assert.match(causesText(validateObjectMeta(metadata, { namespaced: true })), expected);
  });
}

test("a cluster-scoped object has no namespace", () => {
  assert.match(causesText(validateObjectMeta(base, { namespaced: false })), /not allowed on this type/);
});

const old: ObjectMeta = { ...base, uid: "1", generation: 3, finalizers: ["a.io/a"] };
const updates: readonly [name: string, metadata: ObjectMeta, before: ObjectMeta, expected: RegExp][] = [
  ["nothing changed", old, old, /^$/],
  ["another uid", { ...old, uid: "2" }, old, /^metadata.uid: Invalid value: "2": field is immutable$/],
  ["a smaller generation", { ...old, generation: 2 }, old, /must not be decremented/],
  ["a finalizer added while alive", { ...old, finalizers: ["a.io/a", "b.io/b"] }, old, /^$/],
  [
    "a finalizer added while deleting",
    { ...old, deletionTimestamp: "t", finalizers: ["a.io/a", "b.io/b"] },
    { ...old, deletionTimestamp: "t" },
    /^metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers \[\]string\{"b.io\/b"\}$/,
  ],
  [
    "a finalizer removed while deleting",
    { ...old, deletionTimestamp: "t", finalizers: [] },
    { ...old, deletionTimestamp: "t" },
    /^$/,
  ],
];

for (const [name, metadata, before, expected] of updates) {
  test(`an update with ${name}`, () => {
    assert.match(causesText(validateObjectMetaUpdate(metadata, before)), expected);
  });
}
