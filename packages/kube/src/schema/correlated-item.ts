import { canonicalText } from "../canonical-text.ts";
import { isJsonArray, isJsonObject, ownField } from "../json.ts";
import type { Json } from "../json.ts";
import type { StructuralSchema } from "./structural-schema.ts";

/**
 * Finds the item of the old list that is the same item: the one with equal keys in a list of type `map`. Items of other lists
 * have no identity, so there is none. The old list is read once, for all items.
 */
export function correlatedItems(
  old: Json | undefined,
  list: StructuralSchema,
): (item: Json) => Json | undefined {
  if (old === undefined || !isJsonArray(old) || list["x-kubernetes-list-type"] !== "map")
    return () => undefined;
  const byKey = new Map<string, Json>();
  for (const item of old) {
    const key = listMapKey(item, list);
    const text = key === undefined ? undefined : canonicalText(key);
    if (text !== undefined && !byKey.has(text)) byKey.set(text, item);
  }
  return (item) => {
    const key = listMapKey(item, list);
    return key === undefined ? undefined : byKey.get(canonicalText(key));
  };
}

/** The keys of a list-map's item with their values, defaults filled in; `undefined` if the item is no object. */
export function listMapKey(item: Json, list: StructuralSchema): Record<string, Json> | undefined {
  if (!isJsonObject(item)) return undefined;
  const key: Record<string, Json> = {};
  for (const name of list["x-kubernetes-list-map-keys"] ?? []) {
    const value = ownField(item, name) ?? list.items?.properties?.[name]?.default;
    if (value !== undefined) key[name] = value;
  }
  return key;
}
