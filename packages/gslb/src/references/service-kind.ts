import type { Service } from "@meridian/kube";
import { serviceObjects } from "../resources/core-kinds.ts";
import { exposedAddressesAnnotation } from "../resources/gslb-annotations.ts";
import { reachedBy, reachedNowhere, type ReachedAt, type ReferenceKind } from "./reference-kind.ts";
import { serverByAnnotation } from "./server-list.ts";

/** A Service: an annotation of the Gslb names the host. */
export const serviceKind: ReferenceKind = {
  objects: serviceObjects,
  servers({ metadata: { name = "", namespace = "" } }, gslb) {
    return serverByAnnotation(gslb, { kind: "Service", services: [{ namespace, name }] });
  },
  reachedAt: (object) => reachedAtService(object),
};

/** Where a Service of type LoadBalancer is reached; one of another type is reached only where somebody says so. */
export function reachedAtService({ metadata, spec, status }: Service): ReachedAt {
  const { type = "ClusterIP" } = spec ?? {};
  if (type === "LoadBalancer") return reachedBy(status?.loadBalancer?.ingress);
  const { namespace = "", name = "" } = metadata;
  return reachedNowhere(
    `Service ${namespace}/${name} is of type ${type}; it must be LoadBalancer, or the annotation ${exposedAddressesAnnotation} must say where it is reached`,
  );
}
