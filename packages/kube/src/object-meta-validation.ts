import type { ObjectMeta } from "./metadata.ts";
import type { StatusCause } from "./status.ts";

export interface ObjectMetaRules {
  readonly namespaced: boolean;
  /** Rule for the name: default `validateDns1123Subdomain`. */
  readonly validateName?: (name: string) => string[];
}
/** Checks metadata of an object to be created. */
export function validateObjectMeta(_metadata: ObjectMeta, _rules: ObjectMetaRules): StatusCause[] {
  return [];
}
/** Checks metadata of an update against what is stored: immutable fields, finalizers while deleting, generation. */
export function validateObjectMetaUpdate(_metadata: ObjectMeta, _old: ObjectMeta): StatusCause[] {
  return [];
}
