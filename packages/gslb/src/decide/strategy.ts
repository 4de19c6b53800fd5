import { addressFamilies, hasTargets, noTargets, type FamilyTargets } from "./address-family.ts";
import { usableTargets, viewAt, type PeerView } from "./peer-view.ts";

/** How a host's clusters are chosen. `geoip` decides like `roundRobin`; the geography is the DNS server's. */
export type Strategy =
  | { readonly type: "roundRobin"; readonly weight?: Readonly<Record<string, number>> }
  | { readonly type: "geoip" }
  | { readonly type: "failover"; readonly primaryGeoTag: string };

/** What this cluster can serve itself. */
export interface LocalTargets {
  readonly healthy: boolean;
  readonly targets: FamilyTargets;
}

/** Everything that a decision about one host depends on. */
export interface DecideInput {
  readonly strategy: Strategy;
  /** The own geo tag. */
  readonly self: string;
  readonly local: LocalTargets;
  /** Every peer's view of this host, both families. */
  readonly peers: readonly PeerView[];
  /** How long an unreachable peer's last targets are believed; 0: not at all. */
  readonly splitBrainThresholdSeconds: number;
  /** Wall-clock milliseconds. */
  readonly now: number;
}

/** Why a cluster is in the answer or not: one entry per geo tag, the own one included. */
export interface Reason {
  readonly geoTag: string;
  readonly picked: boolean;
  readonly rule: ReasonRule;
  /** One sentence for people. */
  readonly text: string;
}

/** The rule that decided about a cluster, for machines. */
export type ReasonRule =
  | "LocalHealthy"
  | "LocalUnhealthy"
  | "LocalWithoutAddress"
  | "PeerFresh"
  | "PeerHeld"
  | "PeerEmpty"
  | "PeerUnreachable"
  | "PeerUnknown"
  | "Primary"
  | "NotPrimary"
  | "PrimaryUnavailable";

/** Who answers for a host, and why. */
export interface Decision {
  /** Targets of the picked clusters by geo tag, tags sorted. A picked cluster may lack one family, never both. */
  readonly targets: ReadonlyMap<string, FamilyTargets>;
  readonly reasons: readonly Reason[];
}

/**
 * Picks the clusters that answer for one host, and says why. Pure: the controller, `meridian explain` and the console
 * call this one function.
 *
 * The pick is made once over both families; each family is then answered from the picked clusters only, so a healthy
 * IPv4-only primary is never left for a secondary that also has IPv6.
 */
export function decide(input: DecideInput): Decision {
  const candidates = candidatesOf(input);
  const primary = input.strategy.type === "failover" ? input.strategy.primaryGeoTag : undefined;
  const primaryServes =
    primary !== undefined && candidates.some((candidate) => candidate.geoTag === primary && candidate.serves);

  const targets = new Map<string, FamilyTargets>();
  const reasons: Reason[] = [];
  for (const candidate of candidates) {
    const picked = candidate.serves && (!primaryServes || candidate.geoTag === primary);
    if (picked) targets.set(candidate.geoTag, candidate.targets);
    reasons.push({ geoTag: candidate.geoTag, picked, ...reasonOf(candidate, { primary, primaryServes }) });
  }
  return { targets, reasons };
}

/** The decided targets of each family over all picked clusters, in tag order, each once. */
export function answeredTargets(decision: Decision): FamilyTargets {
  const A = new Set<string>();
  const AAAA = new Set<string>();
  for (const targets of decision.targets.values()) {
    for (const target of targets.A) A.add(target);
    for (const target of targets.AAAA) AAAA.add(target);
  }
  return { A: [...A], AAAA: [...AAAA] };
}

interface Candidate {
  readonly geoTag: string;
  /** Whether it may be picked at all. */
  readonly serves: boolean;
  readonly targets: FamilyTargets;
  readonly rule: ReasonRule;
  readonly text: string;
}

function candidatesOf(input: DecideInput): Candidate[] {
  const { self, splitBrainThresholdSeconds: threshold, now } = input;
  const byTag = new Map<string, PeerView[]>();
  for (const view of input.peers) {
    if (view.geoTag === self) continue;
    const views = byTag.get(view.geoTag) ?? [];
    views.push(viewAt(view, threshold, now));
    byTag.set(view.geoTag, views);
  }
  const candidates = [localCandidate(self, input.local)];
  for (const [geoTag, views] of byTag) candidates.push(peerCandidate(geoTag, views));
  return candidates.sort((a, b) => (a.geoTag < b.geoTag ? -1 : 1));
}

function localCandidate(geoTag: string, local: LocalTargets): Candidate {
  if (!local.healthy) {
    const text = `${geoTag} (this cluster) has no healthy backend`;
    return { geoTag, serves: false, targets: noTargets, rule: "LocalUnhealthy", text };
  }
  // Its peers see no targets of it and serve themselves; to pick alike, it must count for nothing here too.
  if (!hasTargets(local.targets)) {
    const text = `${geoTag} (this cluster) is healthy but knows no address to publish`;
    return { geoTag, serves: false, targets: noTargets, rule: "LocalWithoutAddress", text };
  }
  const text = `${geoTag} (this cluster) is healthy`;
  return { geoTag, serves: true, targets: local.targets, rule: "LocalHealthy", text };
}

function peerCandidate(geoTag: string, views: readonly PeerView[]): Candidate {
  const targets = familiesOf(views);
  const served = views.filter((view) => usableTargets(view).length > 0);
  if (served.length > 0) {
    const held = served.every((view) => view.state === "unreachable");
    const text = held
      ? `${geoTag} does not answer (${served[0]!.verdict}); its last targets stand until the threshold is over`
      : `${geoTag} answered with targets`;
    return { geoTag, serves: true, targets, rule: held ? "PeerHeld" : "PeerFresh", text };
  }
  const rules: readonly { state: PeerView["state"]; rule: ReasonRule; text: (view: PeerView) => string }[] = [
    {
      state: "empty",
      rule: "PeerEmpty",
      text: (view) => `${geoTag} answered that it has no target (${view.verdict})`,
    },
    { state: "unknown", rule: "PeerUnknown", text: () => `${geoTag} was not asked yet` },
    {
      state: "expired",
      rule: "PeerUnreachable",
      text: (view) => `${geoTag} does not answer (${view.verdict})`,
    },
    {
      state: "unreachable",
      rule: "PeerUnreachable",
      text: (view) => `${geoTag} does not answer (${view.verdict})`,
    },
  ];
  for (const { state, rule, text } of rules) {
    const view = views.find((candidate) => candidate.state === state);
    if (view !== undefined) return { geoTag, serves: false, targets: noTargets, rule, text: text(view) };
  }
  return {
    geoTag,
    serves: false,
    targets: noTargets,
    rule: "PeerUnknown",
    text: `${geoTag} was not asked yet`,
  };
}

function familiesOf(views: readonly PeerView[]): FamilyTargets {
  const of = (family: (typeof addressFamilies)[number]): readonly string[] =>
    views.filter((view) => view.family === family).flatMap((view) => usableTargets(view));
  return { A: of("A"), AAAA: of("AAAA") };
}

function reasonOf(
  candidate: Candidate,
  failover: { readonly primary: string | undefined; readonly primaryServes: boolean },
): { readonly rule: ReasonRule; readonly text: string } {
  const { primary, primaryServes } = failover;
  if (primary === undefined || !candidate.serves) return { rule: candidate.rule, text: candidate.text };
  if (candidate.geoTag === primary) return { rule: "Primary", text: `${candidate.text} and is the primary` };
  return primaryServes
    ? { rule: "NotPrimary", text: `${candidate.text}, but the primary ${primary} serves` }
    : {
        rule: "PrimaryUnavailable",
        text: `${candidate.text}, and the primary ${primary === "" ? "(none named)" : primary} does not serve`,
      };
}
