import { deepEqual } from "../deep-equal.ts";
import { invalidValue } from "../field-error.ts";
import type { StatusCause } from "../status.ts";
import { applyDefaults } from "./apply-defaults.ts";
import { prune } from "./prune.ts";
import { compileNode } from "./schema-node.ts";
import type { StructuralSchema } from "./structural-schema.ts";
import { validateEmbedded } from "./validate-embedded.ts";
import { validateLists } from "./validate-lists.ts";
import { validateValue } from "./validate-value.ts";

/** Every default of a schema that does not follow the schema it stands in, or has fields that would be pruned. */
export function validateDefaults(schema: StructuralSchema, path: string): StatusCause[] {
  const causes = schema.default === undefined ? [] : validateDefault(schema, `${path}.default`);
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    causes.push(...validateDefaults(child, `${path}.properties[${name}]`));
  }
  if (typeof schema.additionalProperties === "object") {
    causes.push(...validateDefaults(schema.additionalProperties, `${path}.additionalProperties`));
  }
  if (schema.items !== undefined) causes.push(...validateDefaults(schema.items, `${path}.items`));
  return causes;
}

function validateDefault(schema: StructuralSchema, path: string): StatusCause[] {
  const value = schema.default ?? null;
  const node = compileNode(schema);
  const pruned = prune(value, { node, path, isResource: node.embedsResource });
  if (!deepEqual(pruned, value)) return [invalidValue(path, value, "must not have unknown fields")];
  const complete = applyDefaults(value, node);
  return [
    ...validateValue(complete, node, { path }),
    ...validateEmbedded(complete, node, path),
    ...validateLists(complete, node, { path }),
  ];
}
