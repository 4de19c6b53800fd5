import { objectKey } from "@meridian/kube";
import type { ReferenceProblem } from "../decide/gslb-snapshot.ts";
import type { Listener, ParentReference, Route } from "../resources/gateway-api.ts";
import type { Found } from "./find-object.ts";
import { commonHost } from "./listener-hosts.ts";
import type { RecordedReads } from "./reference-source.ts";
import { listenersOf, parentName, parentsOf, refusalOf } from "./route-parents.ts";

/** Hosts of a route. Those that nothing takes requests for stay the Gslb's, so that other clusters serve them. */
export interface RouteHosts {
  readonly taken: readonly string[];
  readonly untaken: readonly string[];
  readonly problems: readonly ReferenceProblem[];
}

/** Of which listeners a route never has its names, by protocol; others may be known to their controller only. */
const foreignProtocols: Readonly<Record<string, readonly string[]>> = {
  HTTPRoute: ["TLS", "TCP", "UDP"],
  GRPCRoute: ["TLS", "TCP", "UDP"],
  TLSRoute: ["HTTP", "HTTPS", "TCP", "UDP"],
};

interface Parent {
  readonly parent: ParentReference;
  readonly refusal: string | undefined;
  readonly listeners: Found<readonly Listener[]>;
}

/**
 * The hosts of a route: what its own names have in common with those of the listeners that it attaches to, and without own
 * names those of the listeners. A Gateway that cannot be found or read takes nothing away: that is told where addresses
 * are looked for.
 *
 * @returns missing where there is no own name, and nothing to take one from
 */
export function routeHosts(kind: string, route: Route, reads: RecordedReads): Found<RouteHosts> {
  const parents: readonly Parent[] = parentsOf(route).map((parent) => ({
    parent,
    refusal: refusalOf(parent, route),
    listeners: listenersOf(parent, route, reads),
  }));
  const accepting = parents.filter(({ refusal }) => refusal === undefined);
  const pending = accepting.find(({ listeners }) => listeners.is === "pending");
  if (pending?.listeners.is === "pending") return pending.listeners;

  const listeners = attachedListeners(accepting);
  const own = route.spec?.hostnames ?? [];
  if (own.length === 0) {
    const taken = hostsOf(kind, listeners);
    const untaken = taken.length > 0 ? [] : hostsOf(kind, attachedListeners(parents));
    const missing = parents.find(({ listeners: found }) => found.is === "missing")?.listeners;
    if (taken.length + untaken.length === 0 && missing?.is === "missing") return missing;
    return { is: "found", object: { taken, untaken, problems: acceptanceProblems(route, parents) } };
  }
  const isOpen = parents.length === 0 || accepting.some(({ listeners: found }) => saysNothing(found));
  const common = own.map((host) =>
    isOpen ? [host] : listeners.flatMap(({ hostname }) => commonHost(hostname, host) ?? []),
  );
  const untaken = own.filter((_host, index) => common[index]!.length === 0);
  const problems = acceptanceProblems(route, parents);
  if (problems.length === 0 && untaken.length > 0) {
    const names = accepting.map(({ parent }) => parentName(parent, route)).join(", ");
    const message = `no listener of ${names} that ${objectKey(route.metadata)} attaches to takes ${untaken.join(", ")}; correct the hostnames, or the listeners`;
    problems.push({ reason: "NoMatchingListenerHostname", message });
  }
  return { is: "found", object: { taken: common.flat(), untaken, problems } };
}

/** What is wrong where no parent accepts a route. */
export function acceptanceProblems(
  route: Route,
  parents: readonly { readonly refusal: string | undefined }[],
): ReferenceProblem[] {
  const refusals = parents.flatMap(({ refusal }) => refusal ?? []);
  if (refusals.length === 0 || refusals.length < parents.length) return [];
  const message = `nothing serves ${objectKey(route.metadata)}: ${refusals.join("; ")}`;
  return [{ reason: "RouteNotAccepted", message }];
}

function attachedListeners(parents: readonly Parent[]): readonly Listener[] {
  return parents.flatMap(({ parent: { sectionName, port }, listeners }) =>
    (listeners.is === "found" ? listeners.object : [])
      .filter(({ name }) => sectionName === undefined || name === sectionName)
      .filter((listener) => port === undefined || listener.port === port),
  );
}

function hostsOf(kind: string, listeners: readonly Listener[]): readonly string[] {
  return listeners
    .filter(({ protocol = "" }) => foreignProtocols[kind]?.includes(protocol) !== true)
    .flatMap(({ hostname }) => (hostname === undefined || hostname === "" ? [] : [hostname]));
}

/** One that is not there, or has no listener at all. */
function saysNothing(found: Found<readonly Listener[]>): boolean {
  return found.is !== "found" || found.object.length === 0;
}
