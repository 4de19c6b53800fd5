import { apiVersionOf } from "@meridian/kube";
import type { ResourceReference } from "../resources/gslb.ts";
import { ingressKind } from "./ingress-kind.ts";
import type { ReferenceKind } from "./reference-kind.ts";
import { routeKinds } from "./route-kinds.ts";
import { serviceKind } from "./service-kind.ts";
import { virtualServiceKind } from "./virtual-service-kind.ts";

/** Every kind that a Gslb may refer to. A new kind is one more entry. */
export const referenceKinds: readonly ReferenceKind[] = [
  ingressKind,
  serviceKind,
  virtualServiceKind,
  ...routeKinds,
];

/** The kind that a reference means by any version of it, whichever the cluster serves now. */
export function referenceKindOf({ apiVersion, kind }: ResourceReference): ReferenceKind | undefined {
  return referenceKinds.find(
    ({ objects }) => objects.kind === kind && apiVersionsOf(objects).includes(apiVersion ?? ""),
  );
}

/** What a reference that means none of them should say: the versions of its kind, or else every kind. */
export function supportedText({ kind }: ResourceReference): string {
  const same = referenceKinds.find(({ objects }) => objects.kind === kind);
  if (same !== undefined)
    return `spec.resourceRef.apiVersion of ${kind} must be ${apiVersionsOf(same.objects).join(" or ")}`;
  const kinds = referenceKinds.map(({ objects }) => `${objects.kind} (${apiVersionsOf(objects)[0]})`);
  return `spec.resourceRef must be one of ${kinds.join(", ")}`;
}

function apiVersionsOf({ group, versions }: ReferenceKind["objects"]): readonly string[] {
  return versions.map((version) => apiVersionOf({ group, version }));
}
