import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject, ObjectMeta, OwnerReference, ResourceType } from "@meridian/kube";
import { ownerKeys } from "./owner-keys.ts";
import { and, annotationsChanged, generationChanged, labelsChanged, not, or } from "./predicate.ts";
import type { Predicate } from "./predicate.ts";
import { resourceVersionChanged } from "./predicate.ts";
import { errorText, isTerminal, terminalError } from "./reconcile-error.ts";

const object = (metadata: ObjectMeta): KubeObject => ({ apiVersion: "v1", kind: "K", metadata });
const verdicts = (predicate: Predicate, old: ObjectMeta, now: ObjectMeta): readonly boolean[] => [
  predicate.onAdd?.(object(now), { initial: false }) ?? true,
  predicate.onUpdate?.(object(old), object(now), { resync: false }) ?? true,
  predicate.onDelete?.(object(now), { missed: false }) ?? true,
];

const old: ObjectMeta = { generation: 1, resourceVersion: "1", labels: { a: "1" } };
const cases: readonly (readonly [string, Predicate, ObjectMeta, readonly boolean[]])[] = [
  [
    "a status update changes no generation",
    generationChanged(),
    { ...old, resourceVersion: "2" },
    [true, false, true],
  ],
  ["a change of the spec does", generationChanged(), { ...old, generation: 2 }, [true, true, true]],
  [
    "a type without generations is let through",
    generationChanged(),
    { labels: { a: "1" } },
    [true, true, true],
  ],
  ["labels as they were", labelsChanged(), { labels: { a: "1" } }, [true, false, true]],
  ["another label", labelsChanged(), { labels: { a: "2" } }, [true, true, true]],
  ["annotations as they were: none", annotationsChanged(), old, [true, false, true]],
  ["an annotation more", annotationsChanged(), { annotations: { a: "1" } }, [true, true, true]],
  ["a resync", resourceVersionChanged(), old, [true, false, true]],
  ["a new version", resourceVersionChanged(), { resourceVersion: "2" }, [true, true, true]],
  ["both", and(generationChanged(), labelsChanged()), { ...old, generation: 2 }, [true, false, true]],
  ["any", or(generationChanged(), labelsChanged()), { ...old, generation: 2 }, [true, true, true]],
  ["the opposite, of all three", not(generationChanged()), old, [false, true, false]],
  ["the opposite of none", not({ onAdd: () => false }), old, [true, false, false]],
];

for (const [name, predicate, now, expected] of cases) {
  test(`a predicate decides about additions, updates and deletions: ${name}`, () => {
    assert.deepEqual(verdicts(predicate, old, now), expected);
  });
}

const app = {
  group: "apps",
  version: "v1",
  plural: "apps",
  kind: "App",
  namespaced: true,
} satisfies ResourceType;
const owned = (owners: readonly OwnerReference[], namespace?: string): KubeObject =>
  object({ name: "x", ...(namespace === undefined ? {} : { namespace }), ownerReferences: owners });

test("an owner is known by group and kind, whatever the version, and by being the controller", () => {
  const reference = (more: Partial<OwnerReference>): OwnerReference => ({
    apiVersion: "apps/v1beta1",
    kind: "App",
    name: "a",
    uid: "u",
    controller: true,
    ...more,
  });
  const keys = (more: Partial<OwnerReference>, every = false): readonly string[] =>
    ownerKeys(owned([reference(more)], "n"), { owner: app, every });
  assert.deepEqual(keys({}), ["n/a"]);
  assert.deepEqual(keys({ apiVersion: "v1" }), []);
  assert.deepEqual(keys({ kind: "Other" }), []);
  assert.deepEqual(keys({ controller: false }), []);
  assert.deepEqual(keys({ controller: false }, true), ["n/a"]);
  const cluster = { owner: { ...app, namespaced: false } };
  assert.deepEqual(ownerKeys(owned([reference({})], "n"), cluster), ["a"]);
  assert.deepEqual(ownerKeys(owned([reference({})]), cluster), ["a"]);
  assert.deepEqual(ownerKeys(owned([reference({})]), { owner: app }), []);
  assert.deepEqual(ownerKeys(object({ name: "x" }), { owner: app }), []);
});

test("a terminal error is one also as a cause, and an error is told with its causes, each once", () => {
  const cause = new Error("no route");
  const terminal = terminalError("spec.a is wrong", { cause });
  assert.equal(errorText(terminal), "spec.a is wrong: no route");
  assert.equal(errorText(new Error("cannot write: no route", { cause })), "cannot write: no route");
  assert.equal(errorText(undefined), "undefined");
  assert.equal(isTerminal(new Error("outer", { cause: terminal })), true);
  assert.equal(isTerminal(cause), false);
  const loop = new Error("round");
  loop.cause = loop;
  assert.equal(isTerminal(loop), false);
});
