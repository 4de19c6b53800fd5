import { apiVersionOf } from "./group-version.ts";
import type { ResourceType } from "./group-version.ts";
import type { KubeObject, OwnerReference } from "./metadata.ts";

/** An owner reference that makes an object the controller of another, so that it is collected with it. */
export function ownerReferenceTo(owner: Pick<KubeObject, "metadata">, type: ResourceType): OwnerReference {
  return {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    name: owner.metadata.name ?? "",
    uid: owner.metadata.uid ?? "",
    controller: true,
    blockOwnerDeletion: true,
  };
}

/** Who controls an object, or `undefined`. */
export function controllerOf(object: Pick<KubeObject, "metadata">): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((owner) => owner.controller === true);
}
