import { parseApiVersion } from "@meridian/kube";
import type { KubeObject, ResourceType } from "@meridian/kube";

/** Whose objects are meant. */
export interface OwnerOptions {
  /** The owner's type; its version does not count, since owner references outlive versions. */
  readonly owner: ResourceType;
  /** All owners of that type, and not only the one that is the controller. Default false. */
  readonly every?: boolean;
}

/**
 * The keys of an object's owners of one type: of the one that controls it, or of all. An owner with a namespace is in the
 * object's; one without is known by its name alone.
 */
export function ownerKeys(object: KubeObject, { owner, every = false }: OwnerOptions): readonly string[] {
  const { ownerReferences = [], namespace } = object.metadata;
  // An object without a namespace has no owner in one.
  if (owner.namespaced && (namespace === undefined || namespace === "")) return [];
  return ownerReferences
    .filter(
      ({ apiVersion, kind }) => kind === owner.kind && parseApiVersion(apiVersion).group === owner.group,
    )
    .filter(({ controller }) => every || controller === true)
    .map(({ name }) => (owner.namespaced ? `${namespace}/${name}` : name));
}
