import { canonicalText } from "../canonical-text.ts";
import { deepEqual } from "../deep-equal.ts";
import { invalidType, invalidValue, notSupported, required, tooLong, tooMany } from "../field-error.ts";
import { isJsonArray, isJsonObject, jsonText, jsonTypeOf, ownField } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import type { StatusCause } from "../status.ts";
import { correlatedItems } from "./correlated-item.ts";
import { validateJunctors } from "./junctors.ts";
import { fieldNode } from "./schema-node.ts";
import type { SchemaNode } from "./schema-node.ts";
import { validateNumber } from "./validate-number.ts";
import { followsFormat, isBase64 } from "./value-formats.ts";

/** Where a value stands, and what stood there before. */
export interface ValuePlace {
  readonly path: string;
  /** The old value of an update. A value that did not change is not checked again, so that a stricter schema does not block old objects. */
  readonly old?: Json | undefined;
}

/**
 * Every rule of the schema's keywords that a value breaks, in the order of the value's fields. Texts are
 * those of kube-apiserver.
 */
export function validateValue(value: Json, node: SchemaNode, place: ValuePlace): StatusCause[] {
  if (place.old !== undefined && deepEqual(value, place.old)) return [];
  const typed = validateType(value, node, place.path);
  if (value === null) return [...typed, ...(typed.length === 0 ? validateEnum(value, node, place.path) : [])];
  return [
    ...typed,
    ...validateJunctors(value, node, { path: place.path, validate: validateValue }),
    ...validateKeywords(value, node, place),
  ];
}

function validateKeywords(value: Json, node: SchemaNode, place: ValuePlace): StatusCause[] {
  const causes = validateEnum(value, node, place.path);
  if (typeof value === "string") return [...validateText(value, node, place.path), ...causes];
  if (typeof value === "number" || typeof (value as unknown) === "bigint") {
    return [...validateNumber(Number(value), node.schema, place.path), ...causes];
  }
  if (isJsonArray(value)) return [...validateItems(value, node, place), ...causes];
  return isJsonObject(value) ? [...causes, ...validateFields(value, node, place)] : causes;
}

function validateType(value: Json, node: SchemaNode, path: string): StatusCause[] {
  const { schema } = node;
  const allowed = node.intOrString ? ["integer", "string"] : schema.type === undefined ? [] : [schema.type];
  if (allowed.length === 0 || (value === null && schema.nullable === true)) return [];
  const actual = jsonTypeOf(value);
  if (allowed.some((type) => type === actual || (type === "number" && actual === "integer"))) return [];
  const detail = `${path} in body must be of type ${allowed.join(",")}: "${actual}"`;
  return [invalidType(path, actual, detail)];
}

function validateEnum(value: Json, { schema }: SchemaNode, path: string): StatusCause[] {
  if (schema.enum === undefined || schema.enum.some((allowed) => deepEqual(allowed, value))) return [];
  const supported = schema.enum.map((each) => (typeof each === "string" ? each : jsonText(each)));
  return [notSupported(path, value, supported)];
}

function validateText(text: string, { schema, pattern }: SchemaNode, path: string): StatusCause[] {
  const causes: StatusCause[] = [];
  const invalid = (rule: string): void =>
    void causes.push(invalidValue(path, text, `${path} in body ${rule}`));
  const { maxLength, minLength, format } = schema;
  // Lengths count code points; a text cannot have more of them than UTF-16 units.
  if (maxLength !== undefined && text.length > maxLength && codePoints(text) > maxLength) {
    causes.push(tooLong(path, maxLength));
  }
  if (minLength !== undefined && (text.length < minLength || codePoints(text) < minLength)) {
    invalid(`should be at least ${minLength} chars long`);
  }
  if (pattern !== undefined && !pattern.matches(text)) invalid(`should match '${schema.pattern}'`);
  if (format !== undefined && !(format === "byte" ? isBase64(text) : followsFormat(format, text))) {
    const detail = `${path} in body must be of type ${format}: ${JSON.stringify(text)}`;
    causes.push(invalidType(path, text, detail));
  }
  return causes;
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function validateItems(items: readonly Json[], node: SchemaNode, place: ValuePlace): StatusCause[] {
  const { path, old } = place;
  const { minItems, maxItems, uniqueItems } = node.schema;
  const causes: StatusCause[] = [];
  if (node.items !== undefined) {
    const itemNode = node.items;
    const correlated = correlatedItems(old, node.schema);
    items.forEach((item, index) => {
      causes.push(...validateValue(item, itemNode, { path: `${path}[${index}]`, old: correlated(item) }));
    });
  }
  if (maxItems !== undefined && items.length > maxItems) causes.push(tooMany(path, items.length, maxItems));
  if (minItems !== undefined && items.length < minItems) {
    const detail = `${path} in body should have at least ${minItems} items`;
    causes.push(invalidValue(path, items.length, detail));
  }
  if (uniqueItems === true && hasRepeatedItem(items)) {
    causes.push(invalidValue(path, items, `${path} in body shouldn't contain duplicates`));
  }
  return causes;
}

function hasRepeatedItem(items: readonly Json[]): boolean {
  return new Set(items.map(canonicalText)).size < items.length;
}

function validateFields(object: JsonObject, node: SchemaNode, place: ValuePlace): StatusCause[] {
  const { path, old } = place;
  const { minProperties, maxProperties } = node.schema;
  const oldObject = old !== undefined && isJsonObject(old) ? old : {};
  const at = (name: string): string => (path === "" ? name : `${path}.${name}`);
  const names = Object.keys(object);
  const causes: StatusCause[] = [];
  for (const name of node.required) if (!Object.hasOwn(object, name)) causes.push(required(at(name)));
  for (const name of names) {
    const child = fieldNode(node, name);
    if (child !== undefined) {
      const fieldPlace = { path: at(name), old: ownField(oldObject, name) };
      causes.push(...validateValue(object[name] ?? null, child, fieldPlace));
    } else if (node.additional === "nothing") {
      causes.push(invalidValue(at(name), "", `${at(name)} in body is a forbidden property`));
    }
  }
  if (maxProperties !== undefined && names.length > maxProperties) {
    causes.push(tooMany(path, names.length, maxProperties));
  }
  if (minProperties !== undefined && names.length < minProperties) {
    const detail = `${path} in body should have at least ${minProperties} properties`;
    causes.push(invalidValue(path, names.length, detail));
  }
  return causes;
}
