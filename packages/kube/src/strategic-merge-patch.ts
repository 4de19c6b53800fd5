import { canonicalText } from "./canonical-text.ts";
import { isJsonArray, isJsonObject, jsonText, ownField, setField } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import { elementKey, orderElements } from "./element-order.ts";
import { badRequest } from "./status-errors.ts";

/** What strategic merge must know of a kind: which lists merge, by which key. Every structural schema is one. */
export interface PatchSchema {
  readonly properties?: Readonly<Record<string, PatchSchema>>;
  readonly items?: PatchSchema;
  readonly additionalProperties?: PatchSchema | boolean;
  /** `merge`, `replace`, `retainKeys`, or several joined by commas. */
  readonly "x-kubernetes-patch-strategy"?: string;
  /** The field by which items of a merging list are the same item; absent for lists of scalars. */
  readonly "x-kubernetes-patch-merge-key"?: string;
}

/**
 * Applies a strategic merge patch: as a merge patch, but a list whose schema says `merge` is merged item by item, by its merge
 * key. Directives: `$patch: replace|delete|merge`, `$retainKeys`, `$deleteFromPrimitiveList/FIELD`, `$setElementOrder/FIELD`.
 * The target is not changed.
 *
 * For example, with containers merged by `name`, `{containers: [{name: "a", image: "v2"}]}` changes one field of one container, and
 * `{containers: [{name: "a", $patch: "delete"}]}` removes that container.
 *
 * @throws StatusError 400 BadRequest for unknown directives and for list items without their merge key.
 */
export function applyStrategicMergePatch(target: Json, patch: Json, schema: PatchSchema): Json {
  if (!isJsonObject(patch)) throw badRequest("error decoding patch: a strategic merge patch is an object");
  return mergeObject(isJsonObject(target) ? target : {}, patch, schema);
}

const deleteFromPrefix = "$deleteFromPrimitiveList/";
const orderPrefix = "$setElementOrder/";
const directives = new Set(["$patch", "$retainKeys"]);

function mergeObject(target: JsonObject, patch: JsonObject, schema: PatchSchema | undefined): JsonObject {
  const directive = ownField(patch, "$patch");
  if (directive === "delete") return {};
  if (directive === "replace") return withoutDirectives(patch);
  if (directive !== undefined && directive !== "merge") throw unknownDirective(directive);

  const result: Record<string, Json> = { ...retainedFields(target, patch) };
  for (const name of fieldsToMerge(patch)) {
    const change = ownField(patch, name);
    if (change === null) {
      delete result[name];
      continue;
    }
    const field: FieldPatch = {
      path: name,
      change,
      schema: fieldSchema(schema, name),
      removed: listDirective(patch, deleteFromPrefix + name),
      order: listDirective(patch, orderPrefix + name),
    };
    const merged = mergeField(ownField(result, name), field);
    if (merged !== undefined) setField(result, name, merged);
  }
  return result;
}

/** One field of a patch, with the parallel directives that belong to it. */
interface FieldPatch {
  readonly path: string;
  readonly change: Json | undefined;
  readonly schema: PatchSchema | undefined;
  readonly removed: readonly Json[] | undefined;
  readonly order: readonly Json[] | undefined;
}

/** Names with a change of their own, and names that only a parallel directive mentions. */
function fieldsToMerge(patch: JsonObject): Set<string> {
  const names = new Set<string>();
  for (const key of Object.keys(patch)) {
    if (directives.has(key)) continue;
    if (key.startsWith(deleteFromPrefix)) names.add(key.slice(deleteFromPrefix.length));
    else if (key.startsWith(orderPrefix)) names.add(key.slice(orderPrefix.length));
    else names.add(key);
  }
  return names;
}

function mergeField(old: Json | undefined, field: FieldPatch): Json | undefined {
  const { change, schema } = field;
  const isList = change === undefined || isJsonArray(change);
  if (isList && (change === undefined || strategies(schema).includes("merge"))) {
    const oldList = old !== undefined && isJsonArray(old) ? old : undefined;
    if (change === undefined && oldList === undefined) return old;
    return mergeList(oldList ?? [], isJsonArray(change) ? change : [], field);
  }
  if (isJsonObject(change) && !strategies(schema).includes("replace")) {
    return mergeObject(old !== undefined && isJsonObject(old) ? old : {}, change, schema);
  }
  return withoutNestedDirectives(change ?? null);
}

function mergeList(old: readonly Json[], change: readonly Json[], field: FieldPatch): Json {
  const mergeKey = field.schema?.["x-kubernetes-patch-merge-key"];
  const merged =
    mergeKey === undefined
      ? mergeScalars(old, change, field.removed ?? [])
      : mergeItems(old, change, { mergeKey, field });
  if (field.order === undefined) return merged;
  checkOrderCovers(change, field.order, mergeKey);
  return orderElements(merged, { order: field.order, old, mergeKey });
}

function mergeScalars(old: readonly Json[], change: readonly Json[], removed: readonly Json[]): Json[] {
  const removedTexts = new Set(removed.map(canonicalText));
  const kept = old.filter((item) => !removedTexts.has(canonicalText(item)));
  const present = new Set(kept.map(canonicalText));
  const added = change.filter((item) => {
    const text = canonicalText(item);
    return !present.has(text) && present.add(text);
  });
  return [...kept, ...added];
}

function mergeItems(
  old: readonly Json[],
  change: readonly Json[],
  { mergeKey, field }: { readonly mergeKey: string; readonly field: FieldPatch },
): Json[] {
  const changes = change.map((item) => {
    if (isJsonObject(item)) return item;
    throw badRequest(`cannot merge ${field.path}: its items are objects merged by ${mergeKey}`);
  });
  // A lone {$patch: replace} among the items means: the other items are the whole list.
  if (changes.some((item) => ownField(item, "$patch") === "replace")) {
    return changes.filter((item) => !Object.hasOwn(item, "$patch")).map(withoutDirectives);
  }
  const result: (Json | undefined)[] = [...old];
  const places = placesByKey(old, mergeKey);
  for (const item of changes) {
    const key = ownField(item, mergeKey);
    if (key === undefined) {
      throw badRequest(`map: ${jsonText(item)} does not contain declared merge key: ${mergeKey}`);
    }
    const text = canonicalText(key);
    if (ownField(item, "$patch") === "delete") {
      for (const at of places.get(text) ?? []) result[at] = undefined;
      places.delete(text);
      continue;
    }
    const at = places.get(text)?.[0];
    const current = at === undefined ? undefined : result[at];
    const base = current !== undefined && isJsonObject(current) ? current : {};
    const merged = mergeObject(base, item, field.schema?.items);
    if (at === undefined) places.set(text, [result.push(merged) - 1]);
    else result[at] = merged;
  }
  return result.filter((item) => item !== undefined);
}

/** Where in a list the items of each merge key are. */
function placesByKey(items: readonly Json[], mergeKey: string): Map<string, number[]> {
  const places = new Map<string, number[]>();
  items.forEach((item, at) => {
    const key = isJsonObject(item) ? ownField(item, mergeKey) : undefined;
    if (key === undefined) return;
    const text = canonicalText(key);
    const known = places.get(text);
    if (known === undefined) places.set(text, [at]);
    else known.push(at);
  });
  return places;
}

/** `$retainKeys` lists the fields that may stay: it is how the other members of a union go away. */
function retainedFields(target: JsonObject, patch: JsonObject): JsonObject {
  const retained = listDirective(patch, "$retainKeys");
  if (retained === undefined) return target;
  for (const name of fieldsToMerge(patch)) {
    if (ownField(patch, name) !== null && !retained.includes(name)) {
      throw badRequest(`field ${name} is in the patch but not in its $retainKeys list`);
    }
  }
  return Object.fromEntries(Object.entries(target).filter(([name]) => retained.includes(name)));
}

function listDirective(patch: JsonObject, name: string): readonly Json[] | undefined {
  const value = ownField(patch, name);
  if (value === undefined) return undefined;
  if (isJsonArray(value)) return value;
  throw badRequest(`the value of ${name} in a patch is a list, not ${jsonText(value)}`);
}

function checkOrderCovers(
  change: readonly Json[],
  order: readonly Json[],
  mergeKey: string | undefined,
): void {
  const ordered = new Set(order.map((item) => elementKey(item, mergeKey)));
  for (const item of change) {
    if (isJsonObject(item) && Object.hasOwn(item, "$patch")) continue;
    if (ordered.has(elementKey(item, mergeKey))) continue;
    throw badRequest(`the item ${jsonText(item)} of the patch is missing in its $setElementOrder list`);
  }
}

const strategies = (schema: PatchSchema | undefined): readonly string[] =>
  schema?.["x-kubernetes-patch-strategy"]?.split(",") ?? [];

function fieldSchema(schema: PatchSchema | undefined, name: string): PatchSchema | undefined {
  const properties = schema?.properties;
  if (properties !== undefined && Object.hasOwn(properties, name)) return properties[name];
  const additional = schema?.additionalProperties;
  return typeof additional === "object" ? additional : undefined;
}

/** The plain object that a patch describes where there is nothing to merge it with. */
function withoutDirectives(patch: JsonObject): JsonObject {
  const result: Record<string, Json> = {};
  for (const [name, value] of Object.entries(patch)) {
    if (directives.has(name) || name.startsWith(deleteFromPrefix) || name.startsWith(orderPrefix)) continue;
    setField(result, name, withoutNestedDirectives(value));
  }
  return result;
}

function withoutNestedDirectives(value: Json): Json {
  if (isJsonArray(value)) return value.map(withoutNestedDirectives);
  return isJsonObject(value) ? withoutDirectives(value) : value;
}

function unknownDirective(directive: Json): Error {
  return badRequest(`unknown patch type found: ${jsonText(directive)}; known are replace, merge, delete`);
}
