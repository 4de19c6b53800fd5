import { duplicate } from "../field-error.ts";
import { isJsonArray, isJsonObject, ownField } from "../json.ts";
import type { Json } from "../json.ts";
import type { StatusCause } from "../status.ts";
import { deepEqual } from "../deep-equal.ts";
import { canonicalText } from "../canonical-text.ts";
import { correlatedItems, listMapKey } from "./correlated-item.ts";
import { fieldNode } from "./schema-node.ts";
import type { SchemaNode } from "./schema-node.ts";
import type { ValuePlace } from "./validate-value.ts";

/** Every item that occurs twice in a list of type `set`, or whose keys occur twice in one of type `map`. Unchanged lists are left alone. */
export function validateLists(value: Json, node: SchemaNode, place: ValuePlace): StatusCause[] {
  if (place.old !== undefined && deepEqual(value, place.old)) return [];
  if (isJsonArray(value)) {
    const itemNode = node.items;
    if (itemNode === undefined) return [];
    const correlated = correlatedItems(place.old, node.schema);
    return [
      ...findRepeated(value, node, place.path),
      ...value.flatMap((item, index) =>
        validateLists(item, itemNode, {
          path: `${place.path}[${index}]`,
          old: correlated(item),
        }),
      ),
    ];
  }
  if (!isJsonObject(value)) return [];
  const old = place.old !== undefined && isJsonObject(place.old) ? place.old : {};
  return Object.keys(value).flatMap((name) => {
    const child = fieldNode(node, name);
    if (child === undefined) return [];
    const path = node.properties.has(name)
      ? place.path === ""
        ? name
        : `${place.path}.${name}`
      : `${place.path}[${name}]`;
    return validateLists(value[name] ?? null, child, { path, old: ownField(old, name) });
  });
}

function findRepeated(items: readonly Json[], { schema }: SchemaNode, path: string): StatusCause[] {
  const listType = schema["x-kubernetes-list-type"];
  if (listType !== "set" && listType !== "map") return [];
  const seen = new Set<string>();
  const reported = new Set<string>();
  const causes: StatusCause[] = [];
  items.forEach((item, index) => {
    const identity = listType === "set" ? item : listMapKey(item, schema);
    if (identity === undefined) return;
    const text = canonicalText(identity);
    if (seen.has(text) && !reported.has(text)) {
      reported.add(text);
      causes.push(duplicate(`${path}[${index}]`, identity));
    }
    seen.add(text);
  });
  return causes;
}
