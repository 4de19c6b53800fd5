import { isJsonArray, isJsonObject, ownField, setField } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { fieldNode } from "./schema-node.ts";
import type { SchemaNode } from "./schema-node.ts";

/**
 * The value with its defaults. A missing field that has a default gets it, if its parent exists; the default itself is completed
 * by the defaults below it. A `null` that the schema does not allow counts as missing: it becomes the default, or goes.
 * Nothing is copied where nothing changes, and applying twice is applying once.
 */
export function applyDefaults(value: Json, node: SchemaNode): Json {
  if (isJsonArray(value)) return defaultItems(value, node);
  return isJsonObject(value) ? defaultFields(value, node) : value;
}

function defaultItems(items: readonly Json[], node: SchemaNode): Json {
  const itemNode = node.items;
  if (itemNode === undefined) return items;
  let copy: Json[] | undefined;
  items.forEach((item, index) => {
    // An item cannot go: that would move the others.
    const present = item === null && isReplaceable(itemNode) ? defaultOf(itemNode) : item;
    const defaulted = applyDefaults(present ?? item, itemNode);
    if (defaulted === item) return;
    copy ??= [...items];
    copy[index] = defaulted;
  });
  return copy ?? items;
}

function defaultFields(object: JsonObject, node: SchemaNode): JsonObject {
  const result: Record<string, Json> = {};
  let changed = false;
  for (const name of Object.keys(object)) {
    const value = object[name] ?? null;
    const child = fieldNode(node, name);
    if (child === undefined) {
      setField(result, name, value);
      continue;
    }
    const present = value === null && isReplaceable(child) ? defaultOf(child) : value;
    if (present === undefined) {
      changed = true;
      continue;
    }
    const defaulted = applyDefaults(present, child);
    changed ||= defaulted !== value;
    setField(result, name, defaulted);
  }
  for (const [name, child] of node.properties) {
    if (ownField(object, name) !== undefined) continue;
    const value = defaultOf(child);
    if (value === undefined) continue;
    changed = true;
    setField(result, name, applyDefaults(value, child));
  }
  return changed ? result : object;
}

/** `null` stays only where the schema allows it, or does not say what belongs here. */
const isReplaceable = ({ schema, preservesUnknownFields, intOrString }: SchemaNode): boolean =>
  schema.nullable !== true && (schema.type !== undefined || intOrString || !preservesUnknownFields);

const defaultOf = (node: SchemaNode): Json | undefined => node.schema.default;
