import type { Ingress, KubeObject, LoadBalancerIngress, Service } from "@meridian/kube";
import { canonicalName } from "../decide/dns-name.ts";
import type { Server, ServiceRef } from "../decide/gslb-snapshot.ts";
import { hostnameAnnotation } from "../resources/gslb-annotations.ts";
import type { Gslb } from "../resources/gslb.ts";

/** What an object that a Gslb refers to says: its hosts with their Services, and where it is reached. */
export type Extracted =
  | {
      readonly servers: readonly Server[];
      readonly addresses: readonly LoadBalancerIngress[];
      readonly problem?: undefined;
    }
  | { readonly problem: string };

/** A kind that a Gslb may refer to. A new kind is one more entry of `referenceKinds`. */
export interface ReferenceKind {
  readonly apiVersion: string;
  readonly kind: string;
  extract(object: KubeObject, gslb: Gslb): Extracted;
}

/** An Ingress: its rules name the hosts and their Services. */
export const ingressKind: ReferenceKind = {
  apiVersion: "networking.k8s.io/v1",
  kind: "Ingress",
  extract(object) {
    const ingress = object as Ingress;
    return { servers: serversOfIngress(ingress), addresses: ingress.status?.loadBalancer?.ingress ?? [] };
  },
};

/** A Service of type LoadBalancer: an annotation of the Gslb names the host. */
export const serviceKind: ReferenceKind = {
  apiVersion: "v1",
  kind: "Service",
  extract(object, gslb) {
    const service = object as Service;
    const { name = "", namespace = "" } = service.metadata;
    const host = withoutFinalDot(gslb.metadata.annotations?.[hostnameAnnotation] ?? "");
    if (host === "")
      return { problem: `a reference to a Service needs the annotation ${hostnameAnnotation} with the host` };
    if (service.spec?.type !== "LoadBalancer")
      return {
        problem: `Service ${namespace}/${name} is of type ${service.spec?.type ?? "ClusterIP"}; it must be LoadBalancer`,
      };
    return {
      servers: [{ host, services: [{ namespace, name }] }],
      addresses: service.status?.loadBalancer?.ingress ?? [],
    };
  },
};

/** Every kind that a Gslb may refer to. */
export const referenceKinds: readonly ReferenceKind[] = [ingressKind, serviceKind];

/** One server per host, in the order of the rules; the Services of all rules that name the host. */
export function serversOfIngress(ingress: Pick<Ingress, "metadata" | "spec">): readonly Server[] {
  const namespace = ingress.metadata.namespace ?? "";
  const servers = new Map<string, { host: string; services: Map<string, ServiceRef> }>();
  for (const rule of ingress.spec?.rules ?? []) {
    const host = withoutFinalDot(rule.host ?? "");
    if (host === "") continue;
    const key = canonicalName(host);
    const server = servers.get(key) ?? { host, services: new Map<string, ServiceRef>() };
    servers.set(key, server);
    for (const path of rule.http?.paths ?? []) {
      const name = path.backend.service?.name ?? "";
      if (name !== "") server.services.set(name, { namespace, name });
    }
  }
  return [...servers.values()].map(({ host, services }) => ({ host, services: [...services.values()] }));
}

/** Names in objects have none, whoever wrote the host; their case stays. */
function withoutFinalDot(host: string): string {
  return host.endsWith(".") ? host.slice(0, -1) : host;
}
