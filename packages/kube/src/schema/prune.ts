import { childPath, itemPath } from "../field-error.ts";
import { isJsonArray, isJsonObject, setField } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { objectMetaSchema } from "./object-meta-schema.ts";
import { compileNode, fieldNode } from "./schema-node.ts";
import type { SchemaNode } from "./schema-node.ts";

/** What a walk is told about: the path of each field that the schema does not know. */
export type UnknownFieldReport = (path: string) => void;

/** Where a walk stands. */
export interface PrunePlace {
  readonly node: SchemaNode;
  readonly path: string;
  /** The value is a whole object of the API: apiVersion, kind and metadata are known without being in the schema. */
  readonly isResource: boolean;
  readonly report?: UnknownFieldReport;
}

const objectMetaNode: SchemaNode = compileNode(objectMetaSchema);

/**
 * The value without the fields that the schema does not know. `x-kubernetes-preserve-unknown-fields` keeps all fields of its own
 * node; below it, the properties that the schema names are pruned again. Nothing is copied where nothing goes.
 */
export function prune(value: Json, place: PrunePlace): Json {
  if (isJsonArray(value)) return pruneItems(value, place);
  return isJsonObject(value) ? pruneFields(value, place) : value;
}

function pruneItems(items: readonly Json[], { node, path, report }: PrunePlace): Json {
  const itemNode = node.items;
  if (itemNode === undefined) return items;
  let copy: Json[] | undefined;
  items.forEach((item, index) => {
    const pruned = prune(item, placeBelow(itemNode, itemPath(path, index), report));
    if (pruned === item) return;
    copy ??= [...items];
    copy[index] = pruned;
  });
  return copy ?? items;
}

function pruneFields(object: JsonObject, place: PrunePlace): JsonObject {
  const { node, path, report } = place;
  const keepsAll = node.preservesUnknownFields || node.additional === "anything";
  const kept: Record<string, Json> = {};
  let changed = false;
  for (const name of Object.keys(object)) {
    const value = object[name] ?? null;
    const at = childPath(path, name);
    const fieldPlace = placeOfField(place, name, at);
    if (fieldPlace === undefined && !keepsAll && !(place.isResource && typeFields.has(name))) {
      report?.(at);
      changed = true;
      continue;
    }
    const pruned = fieldPlace === undefined ? value : prune(value, fieldPlace);
    changed ||= pruned !== value;
    setField(kept, name, pruned);
  }
  return changed ? kept : object;
}

const typeFields = new Set(["apiVersion", "kind"]);

function placeOfField(place: PrunePlace, name: string, path: string): PrunePlace | undefined {
  // A schema may narrow metadata, but never what metadata is.
  if (place.isResource && name === "metadata") return placeBelow(objectMetaNode, path, place.report);
  const node = fieldNode(place.node, name);
  return node === undefined ? undefined : placeBelow(node, path, place.report);
}

function placeBelow(node: SchemaNode, path: string, report: UnknownFieldReport | undefined): PrunePlace {
  return { node, path, isResource: node.embedsResource, ...(report === undefined ? {} : { report }) };
}
