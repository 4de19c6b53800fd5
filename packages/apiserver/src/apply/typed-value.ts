import {
  badRequest,
  type Json,
  type JsonObject,
  isJsonObject,
  ownField,
  type StructuralSchema,
  jsonText,
} from "@meridian/kube";
import type { PathElement } from "./field-set.ts";

/** How the parts of a value are told apart when two managers write it. */
export type ValueKind =
  /** One owner for the whole. */
  | { readonly kind: "whole" }
  /** One owner for each field. */
  | { readonly kind: "fields" }
  /** One owner for each item, which its keys tell. */
  | { readonly kind: "keyed items"; readonly keys: readonly string[] }
  /** One owner for each member. */
  | { readonly kind: "members" };

/** Decides from the schema (KEP-555): objects by field and lists as a whole, unless it says otherwise. */
export function valueKind(value: Json, schema: StructuralSchema | undefined): ValueKind {
  if (isJsonObject(value)) {
    return { kind: schema?.["x-kubernetes-map-type"] === "atomic" ? "whole" : "fields" };
  }
  if (!Array.isArray(value)) return { kind: "whole" };
  switch (schema?.["x-kubernetes-list-type"]) {
    case "map":
      return { kind: "keyed items", keys: schema["x-kubernetes-list-map-keys"] ?? [] };
    case "set":
      return { kind: "members" };
    case "atomic":
    case undefined:
      return { kind: "whole" };
  }
}

/** The schema of a field of an object. */
export function fieldSchema(
  schema: StructuralSchema | undefined,
  field: string,
): StructuralSchema | undefined {
  const { additionalProperties, properties } = schema ?? {};
  if (properties !== undefined && Object.hasOwn(properties, field)) return properties[field];
  return typeof additionalProperties === "object" ? additionalProperties : undefined;
}

/** Whether the schema names the field; the others are entries of a map. */
export function isNamedField(schema: StructuralSchema | undefined, field: string): boolean {
  return schema?.properties !== undefined && Object.hasOwn(schema.properties, field);
}

/** The parts of a value with the path elements that lead to them; none for a value that is owned as a whole. */
export function partsOf(
  value: Json,
  schema: StructuralSchema | undefined,
): readonly (readonly [element: PathElement, part: Json, schema: StructuralSchema | undefined])[] {
  const kind = valueKind(value, schema);
  switch (kind.kind) {
    case "whole":
      return [];
    case "fields":
      return Object.entries(value as JsonObject).map(([field, part]) => [
        `f:${field}`,
        part,
        fieldSchema(schema, field),
      ]);
    case "keyed items":
      return (value as readonly Json[]).map((item) => [
        keyElement(item, kind.keys, schema),
        item,
        schema?.items,
      ]);
    case "members":
      return (value as readonly Json[]).map((item) => [`v:${jsonText(item)}`, item, schema?.items]);
  }
}

/**
 * Checks that a list tells its items apart.
 *
 * @throws StatusError 400.
 */
export function checkDistinct(value: Json, schema: StructuralSchema | undefined, path: string): void {
  const parts = partsOf(value, schema);
  const seen = new Set<PathElement>();
  for (const [element, part, below] of parts) {
    if (seen.has(element))
      throw badRequest(`${path === "" ? "." : path}: duplicate entries for key ${elementText(element)}`);
    seen.add(element);
    checkDistinct(part, below, `${path}${elementText(element)}`);
  }
}

function keyElement(item: Json, keys: readonly string[], schema: StructuralSchema | undefined): PathElement {
  if (!isJsonObject(item)) return `v:${jsonText(item)}`;
  const entries = [...keys].sort().flatMap((key) => {
    const content = ownField(item, key) ?? schema?.items?.properties?.[key]?.default;
    return content === undefined ? [] : [[key, content] as const];
  });
  return `k:${jsonText(Object.fromEntries(entries))}`;
}

/** `.spec.ports[port=80].name`: a path as people read it. */
export function pathText(path: readonly PathElement[]): string {
  return path.map(elementText).join("");
}

function elementText(element: PathElement): string {
  const content = element.slice(2);
  switch (element.slice(0, 2)) {
    case "k:":
      return `[${Object.entries(JSON.parse(content) as JsonObject)
        .map(([key, value]) => `${key}=${jsonText(value)}`)
        .join(",")}]`;
    case "v:":
      return `[=${content}]`;
    case "i:":
      return `[${content}]`;
    default:
      return `.${content}`;
  }
}

const objectMetaSchema: StructuralSchema = {
  type: "object",
  properties: {
    labels: { type: "object", additionalProperties: { type: "string" } },
    annotations: { type: "object", additionalProperties: { type: "string" } },
    finalizers: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
    ownerReferences: {
      type: "array",
      items: { type: "object", "x-kubernetes-map-type": "atomic" },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["uid"],
    },
  },
};

/** The schema of a kind with that of its metadata, which all kinds share. */
export function withObjectMeta(schema: StructuralSchema): StructuralSchema {
  return { ...schema, properties: { ...schema.properties, metadata: objectMetaSchema } };
}
