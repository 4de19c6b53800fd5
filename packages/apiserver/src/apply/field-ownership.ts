import { deepEqual, type Json, type JsonObject, isJsonObject, type StructuralSchema } from "@meridian/kube";
import type { ApiObject } from "../resource/definition.ts";
import { asJson } from "../resource/definition.ts";
import { FieldSet, FieldSetBuilder, type PathElement } from "./field-set.ts";
import { isNamedField, partsOf, valueKind } from "./typed-value.ts";

/** Fields that nobody manages, since the server owns them. */
const unmanaged: FieldSet = new FieldSet(
  new Set(["f:apiVersion", "f:kind", "f:metadata"]),
  new Map([
    [
      "f:metadata",
      new FieldSet(
        new Set(
          [
            "name",
            "namespace",
            "uid",
            "creationTimestamp",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "generation",
            "selfLink",
            "resourceVersion",
            "managedFields",
          ].map((field): PathElement => `f:${field}`),
        ),
        new Map(),
      ),
    ],
  ]),
);

/** The set without what nobody manages. */
export function managed(set: FieldSet): FieldSet {
  const below = set.child("f:metadata").differenceBelow(unmanaged.child("f:metadata"));
  const without = set.differenceBelow(unmanaged);
  return below.isEmpty ? without : without.union(new FieldSet(new Set(), new Map([["f:metadata", below]])));
}

/** The fields that an applied configuration names. */
export function fieldsOf(object: ApiObject, schema: StructuralSchema): FieldSet {
  const builder = new FieldSetBuilder();
  collect(asJson(object), schema, builder);
  return managed(builder.build());
}

function collect(value: Json, schema: StructuralSchema | undefined, into: FieldSetBuilder): void {
  const listed = valueKind(value, schema).kind === "keyed items";
  for (const [element, part, below] of partsOf(value, schema)) {
    const whole = valueKind(part, below).kind === "whole";
    const empty = typeof part === "object" && part !== null && Object.keys(part).length === 0;
    const entry = element.startsWith("f:") && !isNamedField(schema, element.slice(2));
    if (whole || empty || listed || entry) into.add(element);
    if (!whole) collect(part, below, into.below(element));
  }
}

/** What differs between two states of an object. */
export interface FieldChanges {
  readonly removed: FieldSet;
  /** Added, or with another value. */
  readonly set: FieldSet;
}

/** Compares two states by the parts that can have an owner. */
export function compareFields(old: ApiObject, now: ApiObject, schema: StructuralSchema): FieldChanges {
  const removed = new FieldSetBuilder();
  const set = new FieldSetBuilder();
  compare(asJson(old), asJson(now), { schema, removed, set });
  return { removed: managed(removed.build()), set: managed(set.build()) };
}

interface Comparison {
  readonly schema: StructuralSchema | undefined;
  readonly removed: FieldSetBuilder;
  readonly set: FieldSetBuilder;
}

function compare(old: Json, now: Json, comparison: Comparison): void {
  const { removed, schema, set } = comparison;
  const before = new Map(partsOf(old, schema).map(([element, part, below]) => [element, { part, below }]));
  const after = partsOf(now, schema);
  for (const [element, part, below] of after) {
    const earlier = before.get(element)?.part;
    before.delete(element);
    if (earlier === undefined) {
      addAll(element, part, { schema: below, into: set });
    } else if (valueKind(part, below).kind === "whole" || valueKind(earlier, below).kind === "whole") {
      if (!deepEqual(earlier, part)) addAll(element, part, { schema: below, into: set });
    } else {
      compare(earlier, part, { schema: below, removed: removed.below(element), set: set.below(element) });
    }
  }
  for (const [element, { part, below }] of before) addAll(element, part, { schema: below, into: removed });
}

/** The part and everything in it. */
function addAll(
  element: PathElement,
  part: Json,
  to: { readonly schema: StructuralSchema | undefined; readonly into: FieldSetBuilder },
): void {
  to.into.add(element);
  for (const [next, inner, below] of partsOf(part, to.schema)) {
    addAll(next, inner, { schema: below, into: to.into.below(element) });
  }
}

/** The live value with an applied configuration laid over it. */
export function mergeFields(
  live: Json | undefined,
  applied: Json,
  schema: StructuralSchema | undefined,
): Json {
  if (live === undefined) return applied;
  const kind = valueKind(applied, schema);
  if (kind.kind === "whole" || kind.kind !== valueKind(live, schema).kind) return applied;
  if (kind.kind === "fields") {
    const merged: Record<string, Json> = { ...(live as JsonObject) };
    for (const [element, part, below] of partsOf(applied, schema)) {
      const field = element.slice(2);
      merged[field] = mergeFields(Object.hasOwn(merged, field) ? merged[field] : undefined, part, below);
    }
    return merged;
  }
  const items = new Map(partsOf(live, schema).map(([element, part]) => [element, part]));
  for (const [element, part, below] of partsOf(applied, schema)) {
    items.set(element, kind.kind === "members" ? part : mergeFields(items.get(element), part, below));
  }
  return [...items.values()];
}

/**
 * The value without the paths of `gone`. A part that still has something in it that `kept` names, stays.
 */
export function removeFields(
  value: Json,
  schema: StructuralSchema | undefined,
  paths: { readonly gone: FieldSet; readonly kept: FieldSet },
): Json {
  const { gone, kept } = paths;
  if (gone.isEmpty) return value;
  const left: (readonly [PathElement, Json])[] = [];
  for (const [element, part, below] of partsOf(value, schema)) {
    if (gone.members.has(element) && kept.child(element).isEmpty && !kept.members.has(element)) continue;
    const child = gone.child(element);
    const remaining = removeFields(part, below, { gone: child, kept: kept.child(element) });
    // An object that only held what is gone goes with it, unless somebody wants it for itself.
    const emptied = isJsonObject(remaining) && Object.keys(remaining).length === 0 && remaining !== part;
    if (emptied && !kept.members.has(element)) continue;
    left.push([element, remaining]);
  }
  return isJsonObject(value)
    ? Object.fromEntries(left.map(([element, part]) => [element.slice(2), part]))
    : Array.isArray(value)
      ? left.map(([, part]) => part)
      : value;
}
