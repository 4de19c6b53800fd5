import { duplicate, invalidValue, required, tooMany } from "./field-error.ts";
import type { CustomResourceVersion } from "./kinds/custom-resource-definition.ts";
import type { StructuralSchema } from "./schema/structural-schema.ts";
import type { StatusCause } from "./status.ts";

/** Fields that one version may offer to field selectors. */
const selectableFieldsMax: number = 8;

/** Every rule that `selectableFields` of a version break: simple paths to scalars outside metadata, each once. */
export function validateSelectableFields(version: CustomResourceVersion, path: string): StatusCause[] {
  const fields = version.selectableFields ?? [];
  const causes: StatusCause[] = [];
  const seen = new Set<string>();
  fields.forEach(({ jsonPath }, index) => {
    const at = `${path}[${index}].jsonPath`;
    if (typeof jsonPath !== "string" || jsonPath === "") {
      causes.push(required(at));
      return;
    }
    if (seen.has(jsonPath)) causes.push(duplicate(at, jsonPath));
    seen.add(jsonPath);
    const problem = problemOf(jsonPath, version.schema?.openAPIV3Schema);
    if (problem !== undefined) causes.push(invalidValue(at, jsonPath, problem));
  });
  if (fields.length > selectableFieldsMax) causes.push(tooMany(path, fields.length, selectableFieldsMax));
  return causes;
}

function problemOf(jsonPath: string, schema: StructuralSchema | undefined): string | undefined {
  if (!/^(?:\.[A-Za-z_][A-Za-z0-9_-]*)+$/.test(jsonPath)) {
    return "is an invalid path: must be a simple json path without array notation";
  }
  const names = jsonPath.slice(1).split(".");
  if (names[0] === "metadata") return "must not point to fields in metadata";
  let at: StructuralSchema | undefined = schema;
  for (const name of names) {
    const properties: StructuralSchema["properties"] = at?.properties;
    at = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
  }
  if (at === undefined) return "is an invalid path: does not refer to a valid field";
  return at.type === "string" || at.type === "boolean" || at.type === "integer"
    ? undefined
    : "must point to a field of type string, boolean or integer";
}
