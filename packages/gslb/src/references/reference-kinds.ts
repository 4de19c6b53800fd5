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

/** Every kind in every version, for the message about one that is none of them. */
export function supportedKindsText(): string {
  return referenceKinds
    .map(({ objects }) => `${objects.kind} (${apiVersionsOf(objects).join(", ")})`)
    .join(", ");
}

function apiVersionsOf({ group, versions }: ReferenceKind["objects"]): readonly string[] {
  return versions.map((version) => apiVersionOf({ group, version }));
}
