import { labelSelectorFromSpec, objectKey, type KubeObject, type Service } from "@meridian/kube";
import type { Server, ServiceRef } from "../decide/gslb-snapshot.ts";
import { serviceObjects } from "../resources/core-kinds.ts";
import {
  istioGatewayObjects,
  virtualServiceObjects,
  type RouteDestination,
  type VirtualService,
} from "../resources/istio.ts";
import { findObject } from "./find-object.ts";
import {
  named,
  reachedBy,
  reachedByAll,
  reachedNowhere,
  unread,
  type ReachedAt,
  type ReferenceKind,
} from "./reference-kind.ts";
import type { RecordedReads } from "./reference-source.ts";
import { serverList } from "./server-list.ts";

/** A VirtualService of Istio: it names its hosts, and a Service is found by the selector of its Gateway. */
export const virtualServiceKind: ReferenceKind = {
  objects: virtualServiceObjects,
  servers: (object) => named(serversOf(object)),
  reachedAt: (object, reads) => {
    const gateways = gatewayKeys(object);
    if (gateways.length > 0) return reachedByAll(gateways.map((key) => reachedAtGateway(key, object, reads)));
    return reachedNowhere(
      `VirtualService ${objectKey(object.metadata)} names no Gateway in spec.gateways, so nothing says where it is reached`,
    );
  },
};

function serversOf(virtualService: KubeObject & VirtualService): readonly Server[] {
  const { hosts = [], http = [], tls = [], tcp = [] } = virtualService.spec ?? {};
  const services = [...http, ...tls, ...tcp].flatMap(({ route = [] }) => servicesOf(route, virtualService));
  return serverList(hosts.filter((host) => !isMeshName(host)).map((host) => ({ host, services })));
}

/** A destination of several that has weight 0 is sent nothing. */
function servicesOf(route: readonly RouteDestination[], { metadata }: VirtualService): readonly ServiceRef[] {
  return route
    .filter(({ weight }) => weight !== 0 || route.length === 1)
    .flatMap(({ destination }) => {
      const host = destination?.host ?? "";
      return host === "" ? [] : [serviceOf(host, metadata.namespace ?? "")];
    });
}

/**
 * The Service that a destination names: `name` in the own namespace, `name.namespace`, `name.namespace.svc` and that with
 * the domain of the cluster after it. Any other name is no Service of the cluster; as one it is never found.
 */
function serviceOf(host: string, ownNamespace: string): ServiceRef {
  const [name = "", namespace = ownNamespace, svc = "svc"] = host.split(".");
  return svc === "svc" ? { namespace, name } : { namespace: ownNamespace, name: host };
}

/** Names by which only Pods of the mesh ask: `reviews`, `reviews.demo.svc.cluster.local`. */
function isMeshName(host: string): boolean {
  const labels = host.split(".");
  return (labels.length === 1 && host !== "*") || labels[2] === "svc";
}

/** The Gateways of a VirtualService by `namespace/name`; `mesh` stands for all sidecars. */
function gatewayKeys({ metadata: { namespace = "" }, spec }: KubeObject & VirtualService): readonly string[] {
  const keys = (spec?.gateways ?? [])
    .filter((gateway) => gateway !== "mesh" && gateway !== "")
    .map((gateway) => {
      const slash = gateway.indexOf("/");
      if (slash >= 0) return gateway.startsWith("./") ? `${namespace}/${gateway.slice(2)}` : gateway;
      // The oldest form is that of a Service: name.namespace.svc.cluster.local
      const [name = "", inNamespace = namespace] = gateway.split(".");
      return `${inNamespace}/${name}`;
    });
  return [...new Set(keys)];
}

function reachedAtGateway(key: string, virtualService: KubeObject, reads: RecordedReads): ReachedAt {
  const namedBy = `VirtualService ${objectKey(virtualService.metadata)}`;
  const found = findObject(reads, istioGatewayObjects, { key, namedBy });
  if (found.is !== "found") return unread(found);
  const selector = labelSelectorFromSpec({ matchLabels: found.object.spec?.selector ?? {} });
  const services = reads.select(serviceObjects, selector);
  const balancers = services.filter(({ spec }) => spec?.type === "LoadBalancer");
  const [service, ...others] = services.length > 1 ? balancers : services;
  if (service !== undefined && others.length === 0) return reachedBy(addressesOf(service));
  const names = services.map(({ metadata }) => objectKey(metadata)).join(", ");
  return reachedNowhere(
    `exactly 1 Service of type LoadBalancer must have the labels of spec.selector of Gateway ${key}, and ${service === undefined ? "none" : "more"} has${names === "" ? "" : ` among ${names}`}; correct the labels, or state the addresses by an annotation of the Gslb`,
  );
}

function addressesOf({ status }: Service): ReachedAt["entries"] {
  return status?.loadBalancer?.ingress ?? [];
}
