import type { KubeObject } from "@meridian/kube";

/**
 * A transform that leaves out who owns which field: a third of a typical object, and of use only to whoever applies. An
 * object that is written back without them keeps those that the server has.
 */
export function dropManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
