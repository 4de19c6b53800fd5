import { invalidValue } from "../field-error.ts";
import type { Json } from "../json.ts";
import type { StatusCause } from "../status.ts";
import type { SchemaNode } from "./schema-node.ts";
import type { ValuePlace } from "./validate-value.ts";

/** How the branches of a junctor are checked; passed in, since the check of a value needs junctors itself. */
export interface JunctorPlace {
  readonly path: string;
  readonly validate: (value: Json, node: SchemaNode, place: ValuePlace) => StatusCause[];
}

/**
 * Every rule of `allOf`, `anyOf`, `oneOf` and `not` that a value breaks. Where no branch of `anyOf` or `oneOf` holds, the faults of the branch
 * that came closest follow, since they say what to change. Old values do not count inside branches.
 */
export function validateJunctors(
  value: Json,
  node: SchemaNode,
  { path, validate }: JunctorPlace,
): StatusCause[] {
  const check = (branch: SchemaNode): StatusCause[] => validate(value, branch, { path });
  const causes: StatusCause[] = [];
  const junctorFailed = (rule: string): void => {
    causes.push(invalidValue("", "", `${JSON.stringify(path)} must ${rule}`));
  };

  if (node.anyOf.length > 0) {
    const results = node.anyOf.map(check);
    if (results.every((failures) => failures.length > 0)) {
      junctorFailed("validate at least one schema (anyOf)");
      causes.push(...closest(results));
    }
  }
  if (node.oneOf.length > 0) {
    const results = node.oneOf.map(check);
    const valid = results.filter((failures) => failures.length === 0).length;
    if (valid === 0) {
      junctorFailed("validate one and only one schema (oneOf). Found none valid");
      causes.push(...closest(results));
    } else if (valid > 1) {
      junctorFailed(`validate one and only one schema (oneOf). Found ${valid} valid alternatives`);
    }
  }
  if (node.allOf.length > 0) {
    const results = node.allOf.map(check);
    const valid = results.filter((failures) => failures.length === 0).length;
    if (valid < results.length) {
      junctorFailed(`validate all the schemas (allOf)${valid === 0 ? ". None validated" : ""}`);
      causes.push(...results.flat());
    }
  }
  if (node.not !== undefined && check(node.not).length === 0) {
    junctorFailed("not validate the schema (not)");
  }
  return causes;
}

function closest(results: readonly StatusCause[][]): StatusCause[] {
  return results.reduce((best, each) => (each.length < best.length ? each : best));
}
