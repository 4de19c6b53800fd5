import { childPath, invalidType, required } from "../field-error.ts";
import { isJsonArray, isJsonObject, ownField } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import type { ObjectMeta } from "../metadata.ts";
import { validateObjectMeta } from "../object-meta-validation.ts";
import type { StatusCause } from "../status.ts";
import { objectMetaSchema } from "./object-meta-schema.ts";
import { compileNode, fieldNode } from "./schema-node.ts";
import type { SchemaNode } from "./schema-node.ts";
import { validateValue } from "./validate-value.ts";

const objectMetaNode: SchemaNode = compileNode(objectMetaSchema);

/** Every rule that objects inside the object break (`x-kubernetes-embedded-resource`): they too have an apiVersion, a kind and metadata. */
export function validateEmbedded(value: Json, node: SchemaNode, path: string): StatusCause[] {
  if (isJsonArray(value)) {
    const itemNode = node.items;
    if (itemNode === undefined) return [];
    return value.flatMap((item, index) => validateEmbedded(item, itemNode, `${path}[${index}]`));
  }
  if (!isJsonObject(value)) return [];
  const own = node.embedsResource ? validateResource(value, path) : [];
  const below = Object.keys(value).flatMap((name) => {
    const child = fieldNode(node, name);
    return child === undefined ? [] : validateEmbedded(value[name] ?? null, child, childPath(path, name));
  });
  return [...own, ...below];
}

function validateResource(object: JsonObject, path: string): StatusCause[] {
  const causes: StatusCause[] = [];
  for (const field of ["apiVersion", "kind"]) {
    const value = ownField(object, field);
    const at = childPath(path, field);
    if (value === undefined || value === "") causes.push(required(at, "must not be empty"));
    else if (typeof value !== "string") causes.push(invalidType(at, value, "must be a string"));
  }
  const metadata = ownField(object, "metadata");
  if (metadata === undefined) return causes;
  const at = childPath(path, "metadata");
  const typeCauses = validateValue(metadata, objectMetaNode, { path: at });
  if (typeCauses.length > 0) return [...causes, ...typeCauses];
  const rules = { namespaced: false, path: at };
  // A template often has no name, and a namespace or none: neither is a fault there.
  const notForTemplates = new Set([`${at}.name`, `${at}.namespace`]);
  const metadataCauses = validateObjectMeta(metadata as unknown as ObjectMeta, rules).filter(
    ({ field, reason }) => !(notForTemplates.has(field ?? "") && reason !== "FieldValueInvalid"),
  );
  return [...causes, ...metadataCauses];
}
