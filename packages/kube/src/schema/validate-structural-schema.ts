import type { StatusCause } from "../status.ts";
import type { StructuralSchema } from "./structural-schema.ts";

/** Every rule of structural schemas (and of CEL rules in them) that this schema breaks; `path` prefixes the fields of the causes. */
export function validateStructuralSchema(_schema: StructuralSchema, _path: string): StatusCause[] {
  return [];
}
