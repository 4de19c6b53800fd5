import type { KubeObject } from "@meridian/kube";
import {
  grpcRouteObjects,
  httpRouteObjects,
  tcpRouteObjects,
  tlsRouteObjects,
  udpRouteObjects,
  type Route,
} from "../resources/gateway-api.ts";
import type { ObjectKind } from "../resources/object-kind.ts";
import { routeServices } from "./backend-grants.ts";
import { reachedAtGateways } from "./gateways.ts";
import { named, type NamedServers, type ReferenceKind } from "./reference-kind.ts";
import type { RecordedReads } from "./reference-source.ts";
import { acceptanceProblems, routeHosts } from "./route-hosts.ts";
import { parentsOf, refusalOf } from "./route-parents.ts";
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
  const { kind } = objects;
  return {
    objects,
    servers(object, gslb, reads) {
      if (namesHosts) return serversOfRoute(kind, object, reads);
      const found = routeServices(kind, object, reads);
      if (found.is !== "found") return found;
      const parents = parentsOf(object).map((parent) => ({ refusal: refusalOf(parent, object) }));
      const problems = acceptanceProblems(object, parents);
      const services = problems.length > 0 ? [] : found.object.services;
      return serverByAnnotation(gslb, { kind, services }, [...problems, ...found.object.problems]);
    },
    reachedAt: (object, reads) => reachedAtGateways(object, reads),
  };
}

function serversOfRoute(kind: string, route: KubeObject & Route, reads: RecordedReads): NamedServers {
  const hosts = routeHosts(kind, route, reads);
  if (hosts.is !== "found") return hosts;
  const found = routeServices(kind, route, reads);
  if (found.is !== "found") return found;
  const { taken, untaken, problems } = hosts.object;
  const { services } = found.object;
  const servers = serverList([
    ...taken.map((host) => ({ host, services })),
    ...untaken.map((host) => ({ host, services: [] })),
  ]);
  return named(servers, [...problems, ...found.object.problems]);
}
