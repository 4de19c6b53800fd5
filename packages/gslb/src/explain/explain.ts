import type { Zone } from "@meridian/dns";
import { formatTime, parseObjectKey, type Condition } from "@meridian/kube";
import { formatEndpoint } from "@meridian/runtime";
import { addressFamilies } from "../decide/address-family.ts";
import { canonicalName } from "../decide/dns-name.ts";
import type { Explanation, ExplainedPeer } from "../decide/explanation.ts";
import type { HostPlan } from "../decide/host-plan.ts";
import { localTargetsName } from "../decide/local-targets-name.ts";
import { viewAt, type PeerView } from "../decide/peer-view.ts";
import { answeredTargets } from "../decide/strategy.ts";
import type { LatestPlan } from "../controllers/gslb-controller.ts";
import type { PeerSession } from "../peers/peer-session.ts";

/** What an explanation is made of, read from the running operator. */
export interface ExplainFacts {
  readonly host: string;
  readonly geoTag: string;
  /** `namespace/name` of the Gslb that holds the host. */
  readonly holder: string | undefined;
  /** No Gslb here holds it, and it is answered from what peers say. */
  readonly isOfFleet: boolean;
  /** The wildcard host next above it, and the Gslb that holds that one. */
  readonly wildcard: { readonly host: string; readonly holder: string } | undefined;
  /** All hosts that Gslbs of this cluster name. */
  readonly hosts: readonly string[];
  readonly latest: LatestPlan | undefined;
  /** As they stand now; those that the last plan was made from may be older. */
  readonly views: readonly PeerView[];
  readonly sessions: readonly Pick<PeerSession, "geoTag" | "servers">[];
  /** The DNS server's zone that the host is in. */
  readonly zone: Zone | undefined;
  /** Wall-clock milliseconds. */
  readonly now: number;
}

const knownHostsMax = 50;

/** Tells how this cluster answers for a host, from what it holds in memory; asks nobody. */
export function explain(facts: ExplainFacts): Explanation {
  const { host, geoTag, holder, latest, zone } = facts;
  const plan = latest?.plan.hosts.find((each) => canonicalName(each.host) === canonicalName(host));
  const threshold = latest?.plan.policy.policy?.splitBrainThresholdSeconds ?? 0;
  const views = facts.views.map((view) => viewAt(view, threshold, facts.now));
  return {
    host,
    geoTag,
    ...(zone === undefined ? {} : { zone: zone.origin }),
    ...problem(facts, plan),
    ...(isKnown(facts) ? {} : { knownHosts: facts.hosts.slice(0, knownHostsMax) }),
    ...(holder === undefined
      ? {}
      : { gslb: { namespace: parseObjectKey(holder).namespace ?? "", name: parseObjectKey(holder).name } }),
    ...strategy(latest),
    ...(plan === undefined ? {} : hostPart(plan, latest!)),
    peers: facts.sessions.map((session) => explainedPeer(session, views)),
    dns: zone === undefined ? [] : addressFamilies.map((type) => answer(zone, host, type)),
    warnings: (latest?.plan.status.conditions ?? [])
      .filter((condition) => condition.status !== "True" || condition.reason === "AcceptedWithWarnings")
      .map(warning),
  };
}

function isKnown({ host, holder, wildcard, zone }: ExplainFacts): boolean {
  return holder !== undefined || wildcard !== undefined || (zone?.recordSetsOf(host).length ?? 0) > 0;
}

function problem(facts: ExplainFacts, plan: HostPlan | undefined): Pick<Explanation, "problem"> {
  if (facts.zone === undefined) return { problem: `${facts.host} is in no zone that this cluster serves` };
  if (facts.holder === undefined) {
    const { wildcard } = facts;
    const isCovered = wildcard !== undefined && facts.zone.recordSetsOf(facts.host).length === 0;
    const cover = isCovered ? `; it is answered as ${wildcard.host} of Gslb ${wildcard.holder} is` : "";
    const fleet = facts.isOfFleet ? "; it is answered as the clusters say that carry it" : "";
    return { problem: `no Gslb of this cluster names ${facts.host}${cover}${fleet}` };
  }
  if (facts.latest === undefined) return { problem: `Gslb ${facts.holder} was not looked at yet` };
  return plan === undefined
    ? { problem: `Gslb ${facts.holder} names ${facts.host} but does not get it; see its conditions` }
    : {};
}

function strategy(latest: LatestPlan | undefined): Pick<Explanation, "strategy"> {
  const policy = latest?.plan.policy.policy;
  if (policy === undefined) return {};
  const given = policy.strategy;
  return {
    strategy: {
      type: policy.strategyName,
      ...("primaryGeoTag" in given ? { primaryGeoTag: given.primaryGeoTag } : {}),
      ...("weight" in given && given.weight !== undefined ? { weight: given.weight } : {}),
      dnsTtlSeconds: policy.ttlSeconds,
      splitBrainThresholdSeconds: policy.splitBrainThresholdSeconds,
    },
  };
}

function hostPart(plan: HostPlan, latest: LatestPlan): Pick<Explanation, "health" | "local" | "decision"> {
  const { decision } = plan;
  return {
    health: {
      policy: latest.plan.policy.policy?.healthPolicy ?? "Any",
      verdict: plan.health,
      services: plan.services,
    },
    local: { targets: plan.exposed, published: isPublished(plan, latest), source: latest.exposed.source },
    ...(decision === undefined
      ? {}
      : {
          decision: {
            picked: [...decision.targets.keys()],
            targets: answeredTargets(decision),
            reasons: decision.reasons,
            held: plan.held,
            at: formatTime(latest.at),
          },
        }),
  };
}

/** What it would publish is not what is in the DNSEndpoint where the spec is invalid or the object is somebody else's. */
function isPublished({ host }: HostPlan, { plan: { records = [] } }: LatestPlan): boolean {
  const name = canonicalName(localTargetsName(host));
  return records.some(
    ({ dnsName = "", targets }) => canonicalName(dnsName) === name && (targets ?? []).length > 0,
  );
}

function explainedPeer(session: ExplainFacts["sessions"][number], views: readonly PeerView[]): ExplainedPeer {
  return {
    geoTag: session.geoTag,
    servers: session.servers.map(formatEndpoint),
    views: views
      .filter((view) => view.geoTag === session.geoTag)
      .map(({ family, state, targets, asOf, unreachableSince, verdict }) => ({
        family,
        state,
        targets,
        ...(asOf === undefined ? {} : { asOf: new Date(asOf).toISOString() }),
        ...(unreachableSince === undefined
          ? {}
          : { unreachableSince: new Date(unreachableSince).toISOString() }),
        verdict,
      })),
  };
}

function answer(zone: Zone, host: string, type: "A" | "AAAA"): Explanation["dns"][number] {
  if (!zone.ready) return { type, state: "notReady", records: [] };
  const sets = zone.recordSetsOf(host);
  const set = sets.find((each) => each.type === type);
  if (set !== undefined && set.data.length > 0)
    return { type, state: "data", ttl: set.ttl, records: set.data };
  return { type, state: sets.length > 0 ? "nodata" : "nxdomain", records: [] };
}

function warning(condition: Condition): string {
  return `${condition.type}=${condition.status} ${condition.reason}: ${condition.message}`;
}
