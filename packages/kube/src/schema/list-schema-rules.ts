import { forbiddenField, invalidValue, notSupported, required } from "../field-error.ts";
import type { StatusCause } from "../status.ts";
import type { StructuralSchema } from "./structural-schema.ts";

/** Every rule that `x-kubernetes-list-type`, `-list-map-keys` and `-map-type` of a schema break. */
export function* validateListSchema(schema: StructuralSchema, path: string): Iterable<StatusCause> {
  const listType = schema["x-kubernetes-list-type"];
  const mapType = schema["x-kubernetes-map-type"];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const at = (field: string): string => `${path}.${field}`;

  if (listType !== undefined) {
    if (schema.type !== "array") {
      const detail = "must be array if x-kubernetes-list-type is specified";
      yield schema.type === undefined
        ? required(at("type"), detail)
        : invalidValue(at("type"), schema.type, detail);
    }
    if (!["atomic", "set", "map"].includes(listType)) {
      yield notSupported(at("x-kubernetes-list-type"), listType, ["atomic", "set", "map"]);
    }
  }
  if (mapType !== undefined) {
    if (schema.type !== "object") {
      const detail = "must be object if x-kubernetes-map-type is specified";
      yield schema.type === undefined
        ? required(at("type"), detail)
        : invalidValue(at("type"), schema.type, detail);
    }
    if (mapType !== "atomic" && mapType !== "granular") {
      yield notSupported(at("x-kubernetes-map-type"), mapType, ["atomic", "granular"]);
    }
  }
  if (keys.length > 0 && listType !== "map") {
    const detail = "must be map if x-kubernetes-list-map-keys is non-empty";
    yield listType === undefined
      ? required(at("x-kubernetes-list-type"), detail)
      : invalidValue(at("x-kubernetes-list-type"), listType, detail);
  }
  if (listType === "map") yield* validateMapKeys(schema, keys, path);
  if (listType === "set" && schema.items !== undefined) yield* validateSetItems(schema.items, path);
}

function* validateMapKeys(
  schema: StructuralSchema,
  keys: readonly string[],
  path: string,
): Iterable<StatusCause> {
  const keysPath = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length === 0) yield required(keysPath, "must not be empty if x-kubernetes-list-type is map");
  if (new Set(keys).size < keys.length) {
    yield invalidValue(keysPath, keys, "must not contain duplicate entries");
  }
  const { items } = schema;
  if (items === undefined) return;
  if (items.type !== "object") {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    yield invalidValue(`${path}.items.type`, items.type ?? "", detail);
    return;
  }
  for (const key of keys) {
    const property = items.properties?.[key];
    const at = `${path}.items.properties[${key}]`;
    if (property === undefined) {
      yield invalidValue(keysPath, keys, "entries must all be names of item properties");
      continue;
    }
    if (property.type === "array" || property.type === "object") {
      yield invalidValue(
        `${at}.type`,
        property.type,
        "must be a scalar type if parent array's x-kubernetes-list-type is map",
      );
    }
    if (property.default === undefined && !(items.required ?? []).includes(key)) {
      const detail =
        "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
      yield required(`${at}.default`, detail);
    }
    if (property.nullable === true) {
      const detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
      yield forbiddenField(`${at}.nullable`, detail);
    }
  }
}

/** Items of a set are compared as a whole, so nothing may merge inside them. */
function* validateSetItems(items: StructuralSchema, path: string): Iterable<StatusCause> {
  const at = `${path}.items`;
  if (items.nullable === true) {
    yield forbiddenField(`${at}.nullable`, 'cannot be nullable when x-kubernetes-list-type is "set"');
  }
  if (items.type === "array" && (items["x-kubernetes-list-type"] ?? "atomic") !== "atomic") {
    const detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
    yield invalidValue(`${at}.x-kubernetes-list-type`, items["x-kubernetes-list-type"] ?? "", detail);
  }
  if (items.type === "object" && items["x-kubernetes-map-type"] !== "atomic") {
    const detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
    yield invalidValue(`${at}.x-kubernetes-map-type`, items["x-kubernetes-map-type"] ?? "", detail);
  }
}
