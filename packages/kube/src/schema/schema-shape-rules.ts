import { invalidType, invalidValue } from "../field-error.ts";
import { isJsonArray, isJsonObject, jsonTypeOf } from "../json.ts";
import type { Json } from "../json.ts";
import type { StatusCause } from "../status.ts";
import { schemaDepthMax } from "./schema-node.ts";

/**
 * Every keyword of a schema whose value has the wrong type, such as `properties: []`. A schema comes from outside like any other value, and the checks after this
 * one rely on its shape. Keywords that are not known are left alone.
 */
export function validateSchemaShape(schema: unknown, path: string, depth: number = 0): StatusCause[] {
  if (!isJsonObject(schema)) return [wrongType(path, schema as Json, "object")];
  if (depth > schemaDepthMax) {
    return [invalidValue(path, "", `must not be nested deeper than ${schemaDepthMax} levels`)];
  }
  const below = (value: Json, at: string): StatusCause[] => validateSchemaShape(value, at, depth + 1);
  return Object.entries(schema).flatMap(([keyword, value]) => {
    const at = `${path}.${keyword}`;
    switch (shapes[keyword]) {
      case undefined:
        return [];
      case "schema":
        return below(value, at);
      case "schema or boolean":
        return typeof value === "boolean" ? [] : below(value, at);
      case "schemas":
        if (!isJsonArray(value)) return [wrongType(at, value, "array")];
        return value.flatMap((branch, index) => below(branch, `${at}[${index}]`));
      case "named schemas":
        if (!isJsonObject(value)) return [wrongType(at, value, "object")];
        return Object.entries(value).flatMap(([name, child]) => below(child, `${at}[${name}]`));
      case "texts":
        return isTextList(value) ? [] : [wrongType(at, value, "array of strings")];
      case "count":
        return Number.isInteger(value) && Number(value) >= 0
          ? []
          : [wrongType(at, value, "non-negative integer")];
      case "list":
        return isJsonArray(value) ? [] : [wrongType(at, value, "array")];
      case "rules":
        return validateRuleShapes(value, at);
      case "string":
      case "number":
      case "boolean":
        return typeof value === shapes[keyword] ? [] : [wrongType(at, value, shapes[keyword])];
    }
  });
}

type Shape =
  | "schema"
  | "schema or boolean"
  | "schemas"
  | "named schemas"
  | "texts"
  | "count"
  | "list"
  | "rules"
  | "string"
  | "number"
  | "boolean";

const shapes: Readonly<Record<string, Shape | undefined>> = Object.assign(
  Object.create(null) as Record<string, Shape>,
  {
    type: "string",
    format: "string",
    title: "string",
    description: "string",
    pattern: "string",
    nullable: "boolean",
    exclusiveMinimum: "boolean",
    exclusiveMaximum: "boolean",
    uniqueItems: "boolean",
    minimum: "number",
    maximum: "number",
    multipleOf: "number",
    minLength: "count",
    maxLength: "count",
    minItems: "count",
    maxItems: "count",
    minProperties: "count",
    maxProperties: "count",
    required: "texts",
    enum: "list",
    properties: "named schemas",
    additionalProperties: "schema or boolean",
    items: "schema",
    allOf: "schemas",
    anyOf: "schemas",
    oneOf: "schemas",
    not: "schema",
    "x-kubernetes-preserve-unknown-fields": "boolean",
    "x-kubernetes-embedded-resource": "boolean",
    "x-kubernetes-int-or-string": "boolean",
    "x-kubernetes-list-type": "string",
    "x-kubernetes-map-type": "string",
    "x-kubernetes-list-map-keys": "texts",
    "x-kubernetes-validations": "rules",
  } satisfies Record<string, Shape>,
);

const ruleTexts = ["rule", "message", "messageExpression", "reason", "fieldPath"];

function validateRuleShapes(rules: Json, path: string): StatusCause[] {
  if (!isJsonArray(rules)) return [wrongType(path, rules, "array")];
  return rules.flatMap((rule, index) => {
    const at = `${path}[${index}]`;
    if (!isJsonObject(rule)) return [wrongType(at, rule, "object")];
    return Object.entries(rule).flatMap(([field, value]) => {
      const type = ruleTexts.includes(field) ? "string" : field === "optionalOldSelf" ? "boolean" : undefined;
      return type === undefined || typeof value === type ? [] : [wrongType(`${at}.${field}`, value, type)];
    });
  });
}

const isTextList = (value: Json): boolean =>
  isJsonArray(value) && value.every((item) => typeof item === "string");

function wrongType(path: string, value: Json, expected: string): StatusCause {
  return invalidType(path, jsonTypeOf(value), `must be of type ${expected}`);
}
