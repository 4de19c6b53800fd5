import { hasTargets } from "./address-family.ts";
import type { ConditionOutcome, GslbConditionType } from "./gslb-conditions.ts";
import { policyWarnings, weightProblems, type ParsedPolicy } from "./gslb-policy.ts";
import type { GslbSnapshot } from "./gslb-snapshot.ts";
import type { DnsEndpointRecord } from "../resources/dns-endpoint.ts";
import type { HostPlan, RefusedHost } from "./host-plan.ts";

/** A message that names thousands of hosts would help nobody, and events have a limit. */
const messageLengthMax = 900;

/** What the conditions are told from. */
export interface ConditionFacts {
  readonly snapshot: GslbSnapshot;
  readonly policy: ParsedPolicy;
  readonly hosts: readonly HostPlan[];
  readonly refused: readonly RefusedHost[];
  /** What is written to the DNSEndpoint, if anything. */
  readonly records: readonly DnsEndpointRecord[] | undefined;
  /** How many hosts the reference names. */
  readonly hostCount: number;
}

/** The conditions of a Gslb as they are now. What cannot be told yet (after a start) is left as it was. */
export function gslbConditions(facts: ConditionFacts): readonly ConditionOutcome[] {
  const outcomes = [
    accepted(facts),
    resolvedRefs(facts),
    programmed(facts),
    healthy(facts),
    peersReachable(facts),
    peersCarry(facts),
    geoReady(facts),
  ];
  return outcomes.filter((outcome) => outcome !== undefined);
}

function accepted({ snapshot, policy, refused, hostCount }: ConditionFacts): ConditionOutcome {
  if (policy.problems !== undefined) {
    const message = policy.problems.map((problem) => problem.message).join("; ");
    return outcome("Accepted", "False", { reason: "InvalidSpec", message });
  }
  if (refused.length > 0) {
    const message = refused.map((host) => host.message).join("; ");
    return outcome("Accepted", "False", { reason: refused[0]!.reason, message });
  }
  const unknown = weightProblems(policy.policy, snapshot);
  if (unknown.length > 0)
    return outcome("Accepted", "False", { reason: "UnknownCluster", message: unknown.join("; ") });
  if (hostCount === 0 && snapshot.reference.kind === "resolved")
    return outcome("Accepted", "False", {
      reason: "NoHosts",
      message: "what the Gslb refers to names no host; add one to its rules or hostnames",
    });
  const warnings = policyWarnings(policy.policy, snapshot.geoTags);
  return outcome("Accepted", "True", {
    reason: warnings.length === 0 ? "Accepted" : "AcceptedWithWarnings",
    message: warnings.length === 0 ? "the spec is valid and its hosts are its own" : warnings.join("; "),
  });
}

function resolvedRefs({ snapshot: { reference, exposed } }: ConditionFacts): ConditionOutcome {
  if (reference.kind === "failed")
    return outcome("ResolvedRefs", "False", { reason: reference.reason, message: reference.message });
  const problems: { readonly reason: string; readonly message: string }[] = [...(reference.problems ?? [])];
  if (exposed.problem !== undefined)
    problems.push({
      reason: exposed.kept === undefined ? "ExposedAddressesUnresolved" : "AddressesMissing",
      message: exposed.problem,
    });
  if (problems.length > 0) {
    const message = problems.map((problem) => problem.message).join("; ");
    return outcome("ResolvedRefs", "False", { reason: problems[0]!.reason, message });
  }
  return outcome("ResolvedRefs", "True", {
    reason: "ResolvedRefs",
    message: `the reference is found; addresses from ${exposed.source}`,
  });
}

function healthy({ snapshot, hosts }: ConditionFacts): ConditionOutcome | undefined {
  if (hosts.length === 0)
    return outcome("Healthy", "Unknown", { reason: "NoHosts", message: "no host is accepted" });
  const ill = hosts.filter((host) => host.health !== "Healthy").map(illness);
  const unaddressed = hosts
    .filter((host) => host.health === "Healthy" && !hasTargets(host.exposed))
    .map((host) => `${host.host} is healthy but ${snapshot.exposed.source} gives no address to reach it at`);
  if (unaddressed.length > 0 && snapshot.exposed.problem === undefined)
    unaddressed.push(
      "its controller tells in status.loadBalancer; without one, set annotation k8gb.io/exposed-ip-addresses on the Gslb",
    );
  if (ill.length + unaddressed.length === 0)
    return outcome("Healthy", "True", { reason: "Healthy", message: "this cluster can serve every host" });
  const reason =
    ill.length === 0 ? "NoAddress" : ill.length === hosts.length ? "Unhealthy" : "PartlyUnhealthy";
  return outcome("Healthy", "False", { reason, message: [...ill, ...unaddressed].join("; ") });
}

/** `NotFound` says neither what is missing nor who should make it. */
function illness({ host, health, services }: HostPlan): string {
  const missing = services.filter(({ state, isRefused = false }) => state === "notFound" && !isRefused);
  if (health !== "NotFound") return `${host} is ${health}`;
  if (missing.length === 0)
    return `${host} is NotFound: nothing that the Gslb refers to sends its requests to a Service`;
  const names = missing.map(({ namespace, name }) => `${namespace}/${name}`).join(", ");
  return `${host} is NotFound: there is no Service ${names}`;
}

/**
 * A peer that is silent for less is not told of: one that restarts, or is overloaded for a moment, would cost each Gslb of
 * the fleet two writes and two events.
 */
const silenceGraceMs = 10_000;

/** The moments at which peers that do not answer are to be told of, each with its geo tag. */
function silences(
  hosts: readonly HostPlan[],
): readonly { readonly geoTag: string; readonly toldAt: number }[] {
  return hosts.flatMap(({ views }) =>
    views.flatMap(({ family, state, geoTag, unreachableSince = 0 }) =>
      family === "A" && (state === "unreachable" || state === "expired")
        ? [{ geoTag, toldAt: unreachableSince + silenceGraceMs }]
        : [],
    ),
  );
}

/** When the next peer that does not answer is to be told of; `undefined` where none is. */
export function nextSilenceAt({
  snapshot: { now },
  hosts,
}: Pick<ConditionFacts, "snapshot" | "hosts">): number | undefined {
  const coming = silences(hosts).flatMap(({ toldAt }) => (toldAt > now ? [toldAt] : []));
  return coming.length === 0 ? undefined : Math.min(...coming);
}

function peersReachable({ snapshot, hosts }: ConditionFacts): ConditionOutcome | undefined {
  if (hosts.length === 0)
    return outcome("PeersReachable", "True", {
      reason: "NoPeers",
      message: "no host is accepted, so no peer is asked",
    });
  const views = hosts.flatMap((host) => host.views.filter((view) => view.family === "A"));
  if (views.some((view) => view.state === "unknown")) return undefined;
  const silent = silences(hosts);
  const told = silent.filter(({ toldAt }) => toldAt <= snapshot.now);
  if (told.length === 0 && silent.length > 0) return undefined;
  if (told.length > 0) {
    // Without what came back: that changes from try to try, and `explain` tells it.
    const tags = [...new Set(told.map(({ geoTag }) => geoTag))].sort();
    const message = `no answer about these hosts from ${tags.join(", ")}`;
    return outcome("PeersReachable", "False", { reason: "PeerUnreachable", message });
  }
  const reason = views.length === 0 ? "NoPeers" : "PeersReachable";
  const message = views.length === 0 ? "no peer is asked about the hosts" : "every peer answers";
  return outcome("PeersReachable", "True", { reason, message });
}

/** A Gslb is mostly made in one cluster after the other: so long after it was made here nobody is missed. */
const carriageGraceMs = 5_000;

/** Until when peers that have no Gslb for the hosts are not told of; `undefined` where there are none, or it is over. */
export function missesNobodyUntil({
  snapshot: { gslb, now },
  hosts,
}: Pick<ConditionFacts, "snapshot" | "hosts">): number | undefined {
  const untilMs = Date.parse(gslb.metadata.creationTimestamp ?? "") + carriageGraceMs;
  const isMissed = hosts.some(({ views }) => views.some(({ carried }) => carried === false));
  // By a clock that is far behind the API server's it would last for ever.
  const isYoung = now < untilMs && now >= untilMs - 2 * carriageGraceMs;
  return isMissed && isYoung ? untilMs : undefined;
}

/** A peer without the Gslb answers for its hosts all the same, from what others say; that may be meant, and is told. */
function peersCarry(facts: ConditionFacts): ConditionOutcome | undefined {
  const { hosts } = facts;
  const told = hosts.flatMap(({ host, views }) =>
    views.flatMap(({ family, geoTag, carried }) =>
      family === "A" && carried !== undefined ? [{ host, geoTag, carried }] : [],
    ),
  );
  if (told.length === 0) return undefined;
  const missing = told.filter(({ carried }) => !carried);
  if (missing.length === 0)
    return outcome("PeersCarry", "True", {
      reason: "PeersCarry",
      message: "every peer that tells has a Gslb for every host",
    });
  if (missesNobodyUntil(facts) !== undefined) return undefined;
  const tags = [...new Set(missing.map(({ geoTag }) => geoTag))].sort();
  const parts = tags.map((tag) => {
    const names = missing.filter(({ geoTag }) => geoTag === tag).map(({ host }) => host);
    return `${tag} has no Gslb for ${names.join(", ")}`;
  });
  const message = `${parts.join("; ")}; without one a cluster answers from what the others say; create it there, too`;
  return outcome("PeersCarry", "False", { reason: "HostNotCarried", message });
}

function geoReady({ snapshot: { geo }, policy }: ConditionFacts): ConditionOutcome | undefined {
  if (geo === undefined || policy.policy?.strategy.type !== "geoip") return undefined;
  if (geo.problem !== undefined) return outcome("GeoReady", "False", geo.problem);
  return geo.isEmpty
    ? outcome("GeoReady", "False", {
        reason: "NoGeoData",
        message:
          "nothing says where clients are, so answers hold all targets; " +
          "set MERIDIAN_GEOIP_DATABASE, or write geo.yaml into the ConfigMap of MERIDIAN_GEOIP_CONFIG_MAP",
      })
    : outcome("GeoReady", "True", { reason: "GeoReady", message: "answers go by where clients are" });
}

function programmed({ snapshot, records }: ConditionFacts): ConditionOutcome {
  if (snapshot.endpointProblem !== undefined) return outcome("Programmed", "False", snapshot.endpointProblem);
  return records === undefined
    ? outcome("Programmed", "False", {
        reason: "NothingToPublish",
        message: "no host can be published; Accepted and ResolvedRefs tell why",
      })
    : outcome("Programmed", "True", {
        reason: "Programmed",
        message: "the DNSEndpoint says what was decided",
      });
}

function outcome(
  type: GslbConditionType,
  status: ConditionOutcome["status"],
  why: { readonly reason: string; readonly message: string },
): ConditionOutcome {
  const { reason, message } = why;
  const isLong = message.length > messageLengthMax;
  return { type, status, reason, message: isLong ? `${message.slice(0, messageLengthMax)}...` : message };
}
