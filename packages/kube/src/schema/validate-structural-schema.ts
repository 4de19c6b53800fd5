import { forbiddenField, invalidValue } from "../field-error.ts";
import type { StatusCause } from "../status.ts";
import { validateJunctorSchemas } from "./junctor-schema-rules.ts";
import { validateListSchema } from "./list-schema-rules.ts";
import { validateNodeSchema } from "./node-schema-rules.ts";
import { compilePattern } from "./pattern.ts";
import { validateRuleSchemas } from "./rule-schema-rules.ts";
import { validateDefaults } from "./default-schema-rules.ts";
import { compileNode } from "./schema-node.ts";
import { validateSchemaShape } from "./schema-shape-rules.ts";
import type { StructuralSchema } from "./structural-schema.ts";

/**
 * Every rule of structural schemas that a schema breaks (apiextensions/v1): complete types, no forbidden keywords, nothing but value rules inside
 * `allOf`, `anyOf`, `oneOf` and `not`, valid patterns, defaults that follow the schema, list types with usable keys, CEL rules that compile. `path` is put
 * before the fields of the causes: `spec.versions[0].schema.openAPIV3Schema`.
 */
export function validateStructuralSchema(schema: StructuralSchema, path: string): StatusCause[] {
  const malformed = validateSchemaShape(schema, path);
  if (malformed.length > 0) return malformed;
  const causes = [...walk(schema, { path, level: "root" })];
  if (causes.length > 0) return causes;
  // What follows compiles the schema, so it needs one that is sound so far.
  const node = compileNode(schema);
  return [...validateDefaults(schema, path), ...validateRuleSchemas(node, path)];
}

/** Where a schema stands: the rules of the root, of fields and of items differ a little. */
export interface SchemaPlace {
  readonly path: string;
  readonly level: "root" | "field" | "item";
}

function* walk(schema: StructuralSchema, place: SchemaPlace): Iterable<StatusCause> {
  const { path } = place;
  yield* validateNodeSchema(schema, place);
  yield* validateListSchema(schema, path);
  yield* validateJunctorSchemas(schema, path);
  yield* validatePatterns(schema, path);
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    // What metadata is, is not for a schema to say; see validateNodeSchema.
    if (name === "metadata" && place.level === "root") continue;
    yield* walk(child, { path: `${path}.properties[${name}]`, level: "field" });
  }
  if (typeof schema.additionalProperties === "object") {
    yield* walk(schema.additionalProperties, { path: `${path}.additionalProperties`, level: "field" });
  } else if (schema.additionalProperties === false) {
    yield forbiddenField(`${path}.additionalProperties`, "additionalProperties cannot be set to false");
  }
  if (schema.items !== undefined) yield* walk(schema.items, { path: `${path}.items`, level: "item" });
}

function* validatePatterns(schema: StructuralSchema, path: string): Iterable<StatusCause> {
  for (const [at, branch] of branchesOf(schema, path)) yield* validatePatterns(branch, at);
  if (schema.pattern === undefined) return;
  try {
    compilePattern(schema.pattern);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    yield invalidValue(
      `${path}.pattern`,
      schema.pattern,
      `must be a valid regular expression, but isn't: ${why}`,
    );
  }
}

/** The schemas inside the junctors of a schema, each with its path. */
function branchesOf(schema: StructuralSchema, path: string): [path: string, branch: StructuralSchema][] {
  const branches: [string, StructuralSchema][] = [];
  for (const junctor of ["allOf", "anyOf", "oneOf"] as const) {
    schema[junctor]?.forEach((branch, index) => branches.push([`${path}.${junctor}[${index}]`, branch]));
  }
  if (schema.not !== undefined) branches.push([`${path}.not`, schema.not]);
  return branches;
}
