import { jsonText } from "../json.ts";
import { forbiddenField, required } from "../field-error.ts";
import type { StatusCause } from "../status.ts";
import type { StructuralSchema } from "./structural-schema.ts";

/**
 * Every rule that the branches of `allOf`, `anyOf`, `oneOf` and `not` break. They may only hold rules on values: what a value consists of is said once,
 * outside, so that pruning and defaulting do not depend on which branch holds.
 */
export function* validateJunctorSchemas(schema: StructuralSchema, path: string): Iterable<StatusCause> {
  for (const { branch, at, mayType } of branchesWithExceptions(schema, path)) {
    yield* validateBranch(branch, { at, mayType });
    yield* validateCompleteness(schema, branch, { path, at });
  }
}

interface Branch {
  readonly branch: StructuralSchema;
  readonly at: string;
  /** The branch is part of the idiom that writes int-or-string as `anyOf: [{type: integer}, {type: string}]`. */
  readonly mayType: boolean;
}

function branchesWithExceptions(schema: StructuralSchema, path: string): Branch[] {
  const branches: Branch[] = [];
  const add = (list: readonly StructuralSchema[] | undefined, name: string, mayType: boolean): void => {
    list?.forEach((branch, index) => branches.push({ branch, at: `${path}.${name}[${index}]`, mayType }));
  };
  const intOrString = schema["x-kubernetes-int-or-string"] === true;
  add(schema.anyOf, "anyOf", intOrString && isIntOrString(schema.anyOf));
  const [first, ...rest] = schema.allOf ?? [];
  if (first !== undefined) {
    const idiom = intOrString && isIntOrString(first.anyOf);
    branches.push({
      branch: idiom ? { ...first, anyOf: [] } : first,
      at: `${path}.allOf[0]`,
      mayType: false,
    });
  }
  rest.forEach((branch, index) =>
    branches.push({ branch, at: `${path}.allOf[${index + 1}]`, mayType: false }),
  );
  add(schema.oneOf, "oneOf", false);
  if (schema.not !== undefined) branches.push({ branch: schema.not, at: `${path}.not`, mayType: false });
  return branches;
}

function isIntOrString(anyOf: readonly StructuralSchema[] | undefined): boolean {
  const shapes = (anyOf ?? []).map((branch) => jsonText(branch));
  return shapes.length === 2 && shapes[0] === '{"type":"integer"}' && shapes[1] === '{"type":"string"}';
}

const forbiddenInBranch: readonly (readonly [keyword: keyof StructuralSchema, rule: string])[] = [
  ["additionalProperties", "must be undefined to be structural"],
  ["default", "must be undefined to be structural"],
  ["title", "must be empty to be structural"],
  ["description", "must be empty to be structural"],
  ["nullable", "must be false to be structural"],
  ["externalDocs", "must be undefined to be structural"],
  ["x-kubernetes-preserve-unknown-fields", "must be false to be structural"],
  ["x-kubernetes-embedded-resource", "must be false to be structural"],
  ["x-kubernetes-int-or-string", "must be false to be structural"],
  ["x-kubernetes-list-map-keys", "must be empty to be structural"],
  ["x-kubernetes-list-type", "must be undefined to be structural"],
  ["x-kubernetes-map-type", "must be undefined to be structural"],
  ["x-kubernetes-validations", "must be empty to be structural"],
];

function* validateBranch(
  branch: StructuralSchema,
  { at, mayType }: { readonly at: string; readonly mayType: boolean },
): Iterable<StatusCause> {
  if (branch.type !== undefined && !mayType) {
    yield forbiddenField(`${at}.type`, "must be empty to be structural");
  }
  for (const [keyword, rule] of forbiddenInBranch) {
    const value = branch[keyword];
    if (value === undefined || value === false || value === "") continue;
    yield forbiddenField(`${at}.${keyword}`, rule);
  }
  if (branch.properties?.["metadata"] !== undefined) {
    yield forbiddenField(`${at}.properties[metadata]`, "must not be specified in a nested context");
  }
  for (const [name, child] of Object.entries(branch.properties ?? {})) {
    yield* validateBranch(child, { at: `${at}.properties[${name}]`, mayType: false });
  }
  if (branch.items !== undefined) yield* validateBranch(branch.items, { at: `${at}.items`, mayType: false });
  for (const inner of branchesWithExceptions(branch, at)) yield* validateBranch(inner.branch, inner);
}

/** What a branch speaks of must also be specified outside of it. */
function* validateCompleteness(
  outside: StructuralSchema | undefined,
  branch: StructuralSchema,
  { path, at }: { readonly path: string; readonly at: string },
): Iterable<StatusCause> {
  for (const [name, child] of Object.entries(branch.properties ?? {})) {
    const counterpart = outside?.properties?.[name];
    const where = { path: `${path}.properties[${name}]`, at: `${at}.properties[${name}]` };
    if (counterpart === undefined) yield required(where.path, `because it is defined in ${where.at}`);
    else yield* validateCompleteness(counterpart, child, where);
  }
  if (branch.items !== undefined) {
    const where = { path: `${path}.items`, at: `${at}.items` };
    if (outside?.items === undefined) yield required(where.path, `because it is defined in ${where.at}`);
    else yield* validateCompleteness(outside.items, branch.items, where);
  }
  for (const inner of branchesWithExceptions(branch, at)) {
    yield* validateCompleteness(outside, inner.branch, { path, at: inner.at });
  }
}
