import { apiVersionOf, type KubeObject, type OwnerReference, type ResourceType } from "@meridian/kube";

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
export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((owner) => owner.controller === true);
}

/** Whether a reference is to a Gslb, of the present or of the legacy group. */
export function isGslbReference(owner: OwnerReference | undefined): owner is OwnerReference {
  return owner?.kind === "Gslb" && /^k8gb\.(io|absa\.oss)\//.test(owner.apiVersion);
}
