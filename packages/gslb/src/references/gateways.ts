import { findCondition, type LoadBalancerIngress } from "@meridian/kube";
import {
  gatewayObjects,
  listenerSetObjects,
  type Gateway,
  type ListenerSet,
  type ParentReference,
  type Route,
} from "../resources/gateway-api.ts";
import { findObject, type Found } from "./find-object.ts";
import { reachedBy, reachedByAll, reachedNowhere, type ReachedAt } from "./reference-kind.ts";
import type { RecordedReads } from "./reference-source.ts";

const group = "gateway.networking.k8s.io";

/**
 * Where the Gateways are reached that a route attaches to. Of several, one that says of itself that it is not programmed is
 * left out while another is; what a lone one says is taken as it stands, as with k8gb.
 */
export function reachedAtGateways(route: Route, reads: RecordedReads): ReachedAt {
  const parents = parentsOf(route).map((parent) => gatewayOf(parent, route, reads));
  if (parents.length === 0)
    return reachedNowhere(
      `${keyOf(route)} names no Gateway in spec.parentRefs, so nothing says where it is reached`,
    );
  const isProgrammed = (found: Found<Gateway>): boolean =>
    found.is !== "found" || findCondition(found.object.status?.conditions, "Programmed")?.status !== "False";
  const programmed = parents.filter(isProgrammed);
  return reachedByAll((programmed.length > 0 ? programmed : parents).map(reachedAtGateway));
}

/** The host names of the listeners that a route attaches to, each once. */
export function listenerHosts(route: Route, reads: RecordedReads): readonly string[] {
  const hosts = parentsOf(route).flatMap((parent) => {
    const { sectionName, port } = parent;
    const listeners =
      parent.kind === "ListenerSet" ? listenerSetOf(parent, route, reads) : gatewayOf(parent, route, reads);
    return (listeners.is === "found" ? (listeners.object.spec?.listeners ?? []) : [])
      .filter(({ name }) => sectionName === undefined || name === sectionName)
      .filter((listener) => port === undefined || listener.port === port)
      .flatMap(({ hostname }) => hostname ?? []);
  });
  return [...new Set(hosts)];
}

/** Parents that have addresses; a Service, for a mesh, has none. */
function parentsOf(route: Route): readonly ParentReference[] {
  return (route.spec?.parentRefs ?? []).filter(
    (parent) =>
      (parent.group ?? group) === group && ["Gateway", "ListenerSet"].includes(parent.kind ?? "Gateway"),
  );
}

function gatewayOf(parent: ParentReference, route: Route, reads: RecordedReads): Found<Gateway> {
  if (parent.kind !== "ListenerSet") {
    const key = `${parent.namespace ?? route.metadata.namespace ?? ""}/${parent.name}`;
    return findObject(reads, gatewayObjects, { key, namedBy: keyOf(route) });
  }
  const set = listenerSetOf(parent, route, reads);
  if (set.is !== "found") return set;
  const { namespace = set.object.metadata.namespace ?? "", name = "" } = set.object.spec?.parentRef ?? {};
  return findObject(reads, gatewayObjects, { key: `${namespace}/${name}`, namedBy: keyOf(set.object) });
}

function listenerSetOf(parent: ParentReference, route: Route, reads: RecordedReads): Found<ListenerSet> {
  const key = `${parent.namespace ?? route.metadata.namespace ?? ""}/${parent.name}`;
  return findObject(reads, listenerSetObjects, { key, namedBy: keyOf(route) });
}

function reachedAtGateway(found: Found<Gateway>): ReachedAt {
  if (found.is === "pending") return { entries: [], isUnknown: true, problems: [] };
  if (found.is === "missing")
    return { entries: [], isUnknown: !found.why.gone, problems: [found.why.message] };
  const { object: gateway } = found;
  const entries: LoadBalancerIngress[] = [];
  const problems: string[] = [];
  for (const { type = "IPAddress", value } of gateway.status?.addresses ?? []) {
    if (type === "IPAddress") entries.push({ ip: value });
    else if (type === "Hostname") entries.push({ hostname: value });
    else
      problems.push(
        `Gateway ${keyOf(gateway)} has the address ${value} of type ${type}, which only its own controller knows; state the addresses by an annotation of the Gslb`,
      );
  }
  return { ...reachedBy(entries), problems };
}

function keyOf({ metadata: { namespace = "", name = "" } }: Route | Gateway | ListenerSet): string {
  return `${namespace}/${name}`;
}
