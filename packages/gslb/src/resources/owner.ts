import type { KubeObject, OwnerReference } from "@meridian/kube";
import { isLegacy } from "./legacy-gslb.ts";
import { legacyGslbType } from "./resource-types.ts";

/** Whether a reference is to a Gslb, of the present or of the legacy group. */
export function isGslbReference(owner: OwnerReference | undefined): owner is OwnerReference {
  return owner?.kind === "Gslb" && /^k8gb\.(io|absa\.oss)\//.test(owner.apiVersion);
}

/** Whether a reference is to the legacy Gslb of the name of one of the present group, which follows it. */
export function isPredecessor(
  owner: OwnerReference,
  gslb: Pick<KubeObject, "apiVersion" | "metadata">,
): boolean {
  return (
    owner.kind === legacyGslbType.kind &&
    owner.name === gslb.metadata.name &&
    isLegacy(owner) &&
    !isLegacy(gslb)
  );
}
