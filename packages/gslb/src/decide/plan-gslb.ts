import type { Condition } from "@meridian/kube";
import type { DnsEndpointRecord } from "../resources/dns-endpoint.ts";
import type { GslbStatus } from "../resources/gslb.ts";
import { noTargets, splitFamilies, type FamilyTargets } from "./address-family.ts";
import { zoneOf } from "./dns-name.ts";
import { gslbConditions, missesNobodyUntil, nextSilenceAt } from "./gslb-condition-outcomes.ts";
import { withConditions } from "./gslb-conditions.ts";
import { parseGslbPolicy, type GslbPolicy, type ParsedPolicy } from "./gslb-policy.ts";
import type { BackendState, GslbSnapshot, Server } from "./gslb-snapshot.ts";
import { hostHealth, type HostHealth } from "./health.ts";
import type { HostPlan, RefusedHost } from "./host-plan.ts";
import {
  decidedRecords,
  haveTargets,
  heldRecords,
  inWrittenOrder,
  localTargetsRecord,
  storedHosts,
  vouchedRecords,
  writtenFamilies,
  type StoredHost,
} from "./host-records.ts";
import { balancedHostProblem, isLocalTargetsName } from "./local-targets-name.ts";
import { expiresAt, viewAt } from "./peer-view.ts";
import { decide } from "./strategy.ts";

/** What is to be written for a Gslb, and why. */
export interface GslbPlan {
  /** The whole content of its DNSEndpoint; `undefined` where none is needed, or it is not ours to write. */
  readonly records: readonly DnsEndpointRecord[] | undefined;
  readonly status: GslbStatus;
  /** When to look again, in milliseconds from now: a peer's last targets expire then, or own addresses kept so long. */
  readonly afterMs?: number;
  readonly policy: ParsedPolicy;
  /** One per accepted host. */
  readonly hosts: readonly HostPlan[];
}

/**
 * Decides everything about one Gslb from a snapshot. Pure, and total: whatever is wrong with the object becomes a
 * condition, and what can still be served is.
 */
export function planGslb(snapshot: GslbSnapshot): GslbPlan {
  const { gslb, reference, now } = snapshot;
  const policy = parseGslbPolicy(gslb);
  const servers = reference.kind === "resolved" ? reference.servers : lastServers(snapshot);
  const { accepted, refused } = admitHosts(servers, snapshot);

  const exposed = exposedOrLast(snapshot);
  const isGone = reference.kind === "failed" && reference.gone;
  const stored = storedHosts(snapshot.stored ?? []);
  const backend = rememberedBackends(snapshot);
  const hosts: HostPlan[] = [];
  const records: DnsEndpointRecord[] = [];
  for (const { server, zone } of accepted) {
    const outcome = planHost(server, {
      snapshot,
      policy: policy.policy,
      zone,
      exposed,
      stored,
      backend,
      isGone,
    });
    hosts.push(outcome.plan);
    records.push(...outcome.records);
  }

  const isNothing = records.length === 0 && snapshot.stored === undefined;
  const written = isNothing || snapshot.endpointProblem !== undefined ? undefined : records;
  const conditions = gslbConditions({
    snapshot,
    policy,
    hosts,
    refused,
    records: written,
    hostCount: servers.length,
  });
  const status: GslbStatus = {
    geoTag: snapshot.geoTag,
    // Where the DNSEndpoint cannot be written nothing is answered from it.
    healthyRecords: snapshot.endpointProblem === undefined ? healthyRecords(records) : {},
    serviceHealth: Object.fromEntries(hosts.map((host) => [host.host, host.health])),
    hosts: hosts.map((host) => host.host).join(", "),
    loadBalancer: { exposedIps: [...exposed.A, ...exposed.AAAA] },
    servers: hosts.map(({ host, services }) => ({
      host,
      // It is the last known state, should the reference fail.
      services: services
        .filter(({ isRefused = false }) => !isRefused)
        .map(({ name, namespace }) => ({ name, namespace })),
    })),
    conditions: withConditions(keptConditions(snapshot, { policy, hosts }), conditions, {
      generation: gslb.metadata.generation,
      now,
    }),
    ...(gslb.metadata.generation === undefined ? {} : { observedGeneration: gslb.metadata.generation }),
  };
  const expiries = [
    ...hosts.flatMap((host) => expiryOf(host, policy.policy)),
    snapshot.exposed.kept === undefined ? undefined : now + snapshot.exposed.kept.forMs,
    missesNobodyUntil({ snapshot, hosts }),
    nextSilenceAt({ snapshot, hosts }),
  ].filter((at) => at !== undefined);
  return {
    records: written,
    status,
    ...(expiries.length === 0 ? {} : { afterMs: Math.max(1, Math.min(...expiries) - now) }),
    policy,
    hosts,
  };
}

/**
 * What is told of a moment that is over goes: about places once the strategy is another, about Gslbs of peers once all have
 * answered and none tells.
 */
function keptConditions(
  { gslb }: GslbSnapshot,
  { policy: { policy }, hosts }: { readonly policy: ParsedPolicy; readonly hosts: readonly HostPlan[] },
): readonly Condition[] | undefined {
  const hasGeo = policy === undefined || policy.strategy.type === "geoip";
  const mayTell = hosts.some(({ views }) =>
    views.some(({ state, carried }) => carried !== undefined || (state !== "fresh" && state !== "empty")),
  );
  return gslb.status?.conditions?.filter(
    ({ type }) => (hasGeo || type !== "GeoReady") && (mayTell || type !== "PeersCarry"),
  );
}

/** After a failed lookup the hosts stay claimed as they last were, so that peers can still serve them. */
function lastServers({ gslb }: GslbSnapshot): readonly Server[] {
  return (gslb.status?.servers ?? []).flatMap(({ host, services }) =>
    host === undefined || host === "" ? [] : [{ host, services: services ?? [] }],
  );
}

/** Where the addresses, or those of a family, cannot be told, the last known ones. */
function exposedOrLast({ gslb, exposed: { targets, unknownFamily } }: GslbSnapshot): FamilyTargets {
  if (targets !== undefined && unknownFamily === undefined) return targets;
  const last = splitFamilies(gslb.status?.loadBalancer?.exposedIps ?? []).targets;
  if (targets === undefined || unknownFamily === undefined) return last;
  return { ...targets, [unknownFamily]: [...new Set([...targets[unknownFamily], ...last[unknownFamily]])] };
}

function admitHosts(
  servers: readonly Server[],
  snapshot: GslbSnapshot,
): { accepted: { server: Server; zone: string }[]; refused: RefusedHost[] } {
  const accepted: { server: Server; zone: string }[] = [];
  const refused: RefusedHost[] = [];
  for (const server of servers) {
    const { host } = server;
    const zone = zoneOf(host, snapshot.zones);
    const problem = balancedHostProblem(host, zone);
    const holder = snapshot.otherHolder(host);
    if (problem !== undefined) {
      refused.push({ host, reason: "HostInvalid", message: `host ${host} cannot be balanced: ${problem}` });
    } else if (zone === undefined) {
      const zones = snapshot.zones.length === 0 ? "there is none" : snapshot.zones.join(", ");
      const message = `host ${host} is in no delegated zone (${zones}); rename it or create a ZoneDelegation`;
      refused.push({ host, reason: "HostOutsideZones", message });
    } else if (holder !== undefined) {
      const message = `host ${host} is held by the older Gslb ${holder}; remove it from one of the two`;
      refused.push({ host, reason: "HostConflict", message });
    } else accepted.push({ server, zone });
  }
  return { accepted, refused };
}

interface HostContext {
  readonly snapshot: GslbSnapshot;
  readonly policy: GslbPolicy | undefined;
  readonly zone: string;
  readonly exposed: FamilyTargets;
  readonly stored: (host: string) => StoredHost;
  readonly backend: GslbSnapshot["backend"];
  readonly isGone: boolean;
}

function planHost(
  server: Server,
  context: HostContext,
): { readonly plan: HostPlan; readonly records: readonly DnsEndpointRecord[] } {
  const { snapshot, policy, zone, exposed } = context;
  const { host } = server;
  const services = server.services.map((service) => ({ ...service, ...context.backend(service) }));
  const health: HostHealth = context.isGone
    ? "NotFound"
    : hostHealth(
        policy?.healthPolicy ?? "Any",
        services.map(({ state }) => state),
      );
  const published = health === "Healthy" ? exposed : noTargets;
  const threshold = policy?.splitBrainThresholdSeconds ?? 0;
  const views = snapshot.views(host).map((view) => viewAt(view, threshold, snapshot.now));
  const base = { host, zone, health, services, exposed, published, views };

  const stored = context.stored(host);
  const held = heldRecords(stored, published);
  if (policy === undefined) {
    // With no strategy to decide by, what was answered before goes on, without what is dead.
    const ttlSeconds = stored.answers[0]?.recordTTL ?? 0;
    const own = stored.answers.length > 0 ? ownRecords(host, ttlSeconds, published) : [];
    const alive = vouchedRecords(held, { published, views });
    return { plan: { ...base, held: true }, records: inWrittenOrder([...own, ...alive]) };
  }

  const decision = decide({
    strategy: policy.strategy,
    self: snapshot.geoTag,
    local: { healthy: health === "Healthy", targets: exposed },
    peers: views,
    splitBrainThresholdSeconds: threshold,
    now: snapshot.now,
  });
  // A restart is never a failover: until each peer was asked, the stored answer stands, if it has anything to say.
  if (views.some((view) => view.state === "unknown") && haveTargets(held)) {
    const own = ownRecords(host, policy.ttlSeconds, published);
    return { plan: { ...base, decision, held: true }, records: inWrittenOrder([...own, ...held]) };
  }
  return {
    plan: { ...base, decision, held: false },
    records: decidedRecords(host, policy, { published, decision }),
  };
}

/** Many hosts may share a Service, and judging one means going through all its endpoints. */
function rememberedBackends({ backend }: GslbSnapshot): GslbSnapshot["backend"] {
  const known = new Map<string, BackendState>();
  return (service) => {
    if (service.isRefused === true) return { state: "notFound", readyEndpoints: 0 };
    const key = `${service.namespace}/${service.name}`;
    const state = known.get(key) ?? backend(service);
    known.set(key, state);
    return state;
  };
}

function ownRecords(host: string, ttlSeconds: number, published: FamilyTargets): DnsEndpointRecord[] {
  return writtenFamilies
    .filter((family) => published[family].length > 0)
    .map((family) => localTargetsRecord(host, ttlSeconds, { family, published }));
}

function healthyRecords(records: readonly DnsEndpointRecord[]): Record<string, readonly string[]> {
  const healthy: Record<string, readonly string[]> = {};
  const isIpv6 = ({ recordType }: DnsEndpointRecord): boolean => recordType === "AAAA";
  for (const record of [...records.filter((each) => !isIpv6(each)), ...records.filter(isIpv6)]) {
    const name = record.dnsName ?? "";
    const targets = record.targets ?? [];
    if (targets.length > 0 && !isLocalTargetsName(name))
      healthy[name] = [...(healthy[name] ?? []), ...targets];
  }
  return healthy;
}

function expiryOf(host: HostPlan, policy: GslbPolicy | undefined): number[] {
  if (policy === undefined) return [];
  return host.views.flatMap((view) => expiresAt(view, policy.splitBrainThresholdSeconds) ?? []);
}
