import type { Service } from "@meridian/kube";
import { serviceObjects } from "../resources/core-kinds.ts";
import { exposedAddressesAnnotation } from "../resources/gslb-annotations.ts";
import { reachedAtNodes } from "./node-addresses.ts";
import { reachedBy, reachedNowhere, type ReachedAt, type ReferenceKind } from "./reference-kind.ts";
import type { RecordedReads } from "./reference-source.ts";
import { serverByAnnotation } from "./server-list.ts";

/** A Service: an annotation of the Gslb names the host. */
export const serviceKind: ReferenceKind = {
  objects: serviceObjects,
  servers({ metadata: { name = "", namespace = "" } }, gslb) {
    return serverByAnnotation(gslb, { kind: "Service", services: [{ namespace, name }] });
  },
  reachedAt: (object, reads) => reachedAtService(object, reads),
};

/** One that is neither behind a load balancer nor on ports of nodes is reached only where somebody says so. */
function reachedAtService(service: Service, reads: RecordedReads): ReachedAt {
  const { metadata, spec, status } = service;
  const { type = "ClusterIP" } = spec ?? {};
  if (type === "NodePort") return reachedAtNodes(service, reads);
  if (type === "LoadBalancer") return reachedBy(status?.loadBalancer?.ingress);
  const { namespace = "", name = "" } = metadata;
  return reachedNowhere(
    `Service ${namespace}/${name} is of type ${type}; it must be LoadBalancer or NodePort, or the annotation ${exposedAddressesAnnotation} must say where it is reached`,
  );
}
