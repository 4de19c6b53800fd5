import type { KubeObject } from "@meridian/kube";
import type { Server, ServiceRef } from "../decide/gslb-snapshot.ts";
import {
  grpcRouteObjects,
  httpRouteObjects,
  tcpRouteObjects,
  tlsRouteObjects,
  udpRouteObjects,
  type BackendReference,
  type Route,
} from "../resources/gateway-api.ts";
import type { ObjectKind } from "../resources/object-kind.ts";
import { listenerHosts, reachedAtGateways } from "./gateways.ts";
import type { ReferenceKind } from "./reference-kind.ts";
import type { RecordedReads } from "./reference-source.ts";
import { serverByAnnotation, serverList } from "./server-list.ts";

/** The routes of the Gateway API. Those that carry names say their hosts; of the others an annotation of the Gslb does. */
export const routeKinds: readonly ReferenceKind[] = [
  routeKind(httpRouteObjects, { namesHosts: true }),
  routeKind(grpcRouteObjects, { namesHosts: true }),
  routeKind(tlsRouteObjects, { namesHosts: true }),
  routeKind(tcpRouteObjects, { namesHosts: false }),
  routeKind(udpRouteObjects, { namesHosts: false }),
];

function routeKind(objects: ObjectKind, { namesHosts }: { readonly namesHosts: boolean }): ReferenceKind {
  return {
    objects,
    servers(object, gslb, reads) {
      const services = servicesOfRoute(object);
      return namesHosts
        ? { servers: serversOfRoute(object, services, reads) }
        : serverByAnnotation(gslb, { kind: objects.kind, services });
    },
    reachedAt: (object, reads) => reachedAtGateways(object, reads),
  };
}

/** A route without hosts serves those of the listeners that it attaches to. */
function serversOfRoute(
  route: Route,
  services: readonly ServiceRef[],
  reads: RecordedReads,
): readonly Server[] {
  const own = route.spec?.hostnames ?? [];
  const hosts = own.length > 0 ? own : listenerHosts(route, reads);
  return serverList(hosts.map((host) => ({ host, services })));
}

/**
 * The Services that a route sends anything to. As with k8gb the kind of a backend is not looked at: a ServiceImport has the
 * name of its Service.
 */
function servicesOfRoute({ metadata, spec }: KubeObject & Route): readonly ServiceRef[] {
  const isUsed = ({ weight }: BackendReference): boolean => weight !== 0;
  return (spec?.rules ?? [])
    .flatMap(({ backendRefs = [] }) => backendRefs)
    .filter((backend) => isUsed(backend) && backend.name !== "")
    .map(({ namespace = metadata.namespace ?? "", name }) => ({ namespace, name }));
}
