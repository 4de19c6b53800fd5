import { forbiddenField, invalidValue, notSupported, required } from "../field-error.ts";
import type { Json, JsonObject } from "../json.ts";
import type { StatusCause } from "../status.ts";
import type { StructuralSchema } from "./structural-schema.ts";

/** Every rule that one node of a structural schema breaks by itself; `level` is where it stands. */
export function* validateNodeSchema(
  schema: StructuralSchema,
  { path, level }: { readonly path: string; readonly level: "root" | "field" | "item" },
): Iterable<StatusCause> {
  for (const keyword of unsupportedKeywords) {
    if (!Object.hasOwn(schema, keyword)) continue;
    yield forbiddenField(`${path}.${keyword}`, `${keyword} is not supported`);
  }
  yield* validateTypeKeyword(schema, { path, level });
  yield* validateExtensions(schema, path);
  if (schema.uniqueItems === true) {
    const detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
    yield forbiddenField(`${path}.uniqueItems`, detail);
  }
  if (schema.type === "array" && schema.items === undefined) {
    yield required(`${path}.items`, "must be specified");
  }
  if (schema.additionalProperties !== undefined) {
    if (level === "root")
      yield forbiddenField(`${path}.additionalProperties`, "must not be used at the root");
    if (Object.keys(schema.properties ?? {}).length > 0) {
      const detail = "additionalProperties and properties are mutual exclusive";
      yield forbiddenField(`${path}.additionalProperties`, detail);
    }
  }
  if (level === "root" || schema["x-kubernetes-embedded-resource"] === true) {
    yield* validateResourceFields(schema, { path, level });
  }
}

/** Keywords of JSON Schema and OpenAPI that a structural schema may not have. */
const unsupportedKeywords = [
  ...["$ref", "$schema", "id", "definitions", "dependencies", "patternProperties", "additionalItems"],
  ...["deprecated", "discriminator", "readOnly", "writeOnly", "xml"],
];

const types = ["object", "array", "string", "integer", "number", "boolean"];

function* validateTypeKeyword(
  schema: StructuralSchema,
  { path, level }: { readonly path: string; readonly level: "root" | "field" | "item" },
): Iterable<StatusCause> {
  const { type } = schema;
  const embeds = schema["x-kubernetes-embedded-resource"] === true;
  if (type !== undefined && !types.includes(type)) {
    yield notSupported(`${path}.type`, type, types);
    return;
  }
  if (embeds && type !== "object") {
    const detail = "must be object if x-kubernetes-embedded-resource is true";
    yield type === undefined ? required(`${path}.type`, detail) : invalidValue(`${path}.type`, type, detail);
    return;
  }
  const typeIsOptional =
    schema["x-kubernetes-int-or-string"] === true || schema["x-kubernetes-preserve-unknown-fields"] === true;
  if (type === undefined && !typeIsOptional) yield required(`${path}.type`, missingType[level]);
  if (level === "root" && type !== undefined && type !== "object") {
    yield invalidValue(`${path}.type`, type, "must be object at the root");
  }
}

const missingType = {
  root: "must not be empty at the root",
  field: "must not be empty for specified object fields",
  item: "must not be empty for specified array items",
} as const;

function* validateExtensions(schema: StructuralSchema, path: string): Iterable<StatusCause> {
  const intOrString = schema["x-kubernetes-int-or-string"] === true;
  const embeds = schema["x-kubernetes-embedded-resource"] === true;
  const preserves = schema["x-kubernetes-preserve-unknown-fields"];
  if (intOrString && schema.type !== undefined) {
    yield forbiddenField(`${path}.type`, "must be empty if x-kubernetes-int-or-string is true");
  }
  for (const extension of [
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-embedded-resource",
  ] as const) {
    if (!intOrString || schema[extension] !== true) continue;
    yield invalidValue(`${path}.${extension}`, true, "must be false if x-kubernetes-int-or-string is true");
  }
  if (preserves === false) {
    yield invalidValue(`${path}.x-kubernetes-preserve-unknown-fields`, false, "must be true or undefined");
  }
  if (!embeds) return;
  if (schema.additionalProperties !== undefined) {
    const detail = "must not be used if x-kubernetes-embedded-resource is set";
    yield forbiddenField(`${path}.additionalProperties`, detail);
  }
  if (preserves !== true && Object.keys(schema.properties ?? {}).length === 0) {
    const detail =
      "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
    yield required(`${path}.properties`, detail);
  }
}

function* validateResourceFields(
  schema: StructuralSchema,
  { path, level }: { readonly path: string; readonly level: "root" | "field" | "item" },
): Iterable<StatusCause> {
  const properties = schema.properties ?? {};
  for (const name of ["apiVersion", "kind"]) {
    const type = properties[name]?.type;
    if (properties[name] === undefined || type === "string") continue;
    yield invalidValue(`${path}.properties[${name}].type`, type ?? "", "must be string");
  }
  const metadata = properties["metadata"];
  if (metadata === undefined) return;
  const at = `${path}.properties[metadata]`;
  if (metadata.type !== "object") yield invalidValue(`${at}.type`, metadata.type ?? "", "must be object");
  if (level !== "root") return;
  if (hasDefault(metadata as unknown as JsonObject)) {
    yield forbiddenField(`${at}.default`, "must not be set in top-level metadata");
  }
  const {
    properties: fields = {},
    type: _type,
    description: _description,
    default: _default,
    ...rest
  } = metadata;
  const narrowsOnlyNames = Object.keys(fields).every((name) => name === "name" || name === "generateName");
  if (!narrowsOnlyNames || Object.keys(rest).length > 0) {
    const detail =
      "must not specify anything other than name and generateName, but metadata is implicitly specified";
    yield forbiddenField(at, detail);
  }
}

function hasDefault(schema: Json): boolean {
  if (typeof schema !== "object" || schema === null) return false;
  return Object.hasOwn(schema, "default") || Object.values(schema).some((part: Json) => hasDefault(part));
}
