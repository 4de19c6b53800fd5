import type { OwnerReference } from "@meridian/kube";

/** Whether a reference is to a Gslb, of the present or of the legacy group. */
export function isGslbReference(owner: OwnerReference | undefined): owner is OwnerReference {
  return owner?.kind === "Gslb" && /^k8gb\.(io|absa\.oss)\//.test(owner.apiVersion);
}
