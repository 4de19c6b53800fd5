import type { GslbStrategySpec } from "../fleet/application.ts";

/** One entry of a DNSEndpoint as k8gb writes it: all are of type A. */
export interface K8gbEndpoint {
  readonly dnsName: string;
  readonly recordTtlSeconds: number;
  readonly targets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** What k8gb builds a host's entries from. Only IPv4 is left of anything. */
export interface K8gbHost {
  readonly host: string;
  readonly strategy: GslbStrategySpec;
  /** The own geo tag. */
  readonly tag: string;
  readonly healthy: boolean;
  readonly own: readonly string[];
  /** Targets of the peers that had any, by geo tag, in the order in which they were asked. */
  readonly peers: ReadonlyMap<string, readonly string[]>;
}

const ttlSecondsDefault = 30;

/** The entries of one host: `localtargets-<host>` while it is healthy here, and the host while anybody serves it. */
export function k8gbEndpoints(of: K8gbHost): readonly K8gbEndpoint[] {
  const { host, strategy, healthy, own } = of;
  const recordTtlSeconds = strategy.dnsTtlSeconds || ttlSecondsDefault;
  const entries: K8gbEndpoint[] = [];
  if (healthy) entries.push({ dnsName: `localtargets-${host}`, recordTtlSeconds, targets: own, labels: {} });
  const final = k8gbTargets(of);
  if (final.size > 0) {
    const labels = { strategy: strategy.type, ...weightLabels(strategy, final) };
    entries.push({ dnsName: host, recordTtlSeconds, targets: [...final.values()].flat(), labels });
  }
  return entries;
}

/**
 * Who answers for a host, by k8gb's table. A secondary that sees no primary, and a primary that is not healthy, answer all
 * that they see; there is no order among secondaries.
 */
export function k8gbTargets({
  strategy,
  tag,
  healthy,
  own,
  peers,
}: Pick<K8gbHost, "strategy" | "tag" | "healthy" | "own" | "peers">): ReadonlyMap<string, readonly string[]> {
  const base = new Map(healthy ? [[tag, own] as const] : []);
  const all = new Map([...base, ...peers]);
  if (strategy.type !== "failover") return all;
  const primary = strategy.primaryGeoTag ?? "";
  if (primary === tag) return healthy ? base : peers;
  const ofPrimary = peers.get(primary);
  return ofPrimary === undefined ? all : new Map([[primary, ofPrimary]]);
}

function weightLabels(
  strategy: GslbStrategySpec,
  final: ReadonlyMap<string, readonly string[]>,
): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {};
  for (const [tag, weight] of Object.entries(strategy.weight ?? {}))
    for (const [index, target] of (final.get(tag) ?? []).entries())
      labels[`weight-${tag}-${index}-${weight}`] = target;
  return labels;
}
