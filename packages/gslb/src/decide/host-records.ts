import type { DnsEndpointRecord } from "../resources/dns-endpoint.ts";
import { hasTargets, type AddressFamily, type FamilyTargets } from "./address-family.ts";
import { canonicalName } from "./dns-name.ts";
import type { GslbPolicy } from "./gslb-policy.ts";
import { localTargetsName } from "./local-targets-name.ts";
import type { PeerView } from "./peer-view.ts";
import { answeredTargets, type Decision } from "./strategy.ts";
import { weightLabels } from "./weight-labels.ts";

/** In the order of their records: k8gb's CoreDNS plugin reads no types and answers A from the last entry of a name. */
export const writtenFamilies: readonly AddressFamily[] = ["AAAA", "A"];

/**
 * The records of one decided host, as k8gb writes them: `localtargets-<host>` while this cluster serves it, then
 * `<host>`; IPv6 before IPv4.
 *
 * One difference: a host without any target keeps an entry with an empty list, so that it is answered NODATA and not
 * NXDOMAIN; and a `localtargets-` name without target is left out.
 */
export function decidedRecords(
  host: string,
  policy: GslbPolicy,
  outcome: { readonly published: FamilyTargets; readonly decision: Decision },
): readonly DnsEndpointRecord[] {
  const { published, decision } = outcome;
  const answered = answeredTargets(decision);
  const weights = policy.strategy.type === "roundRobin" ? (policy.strategy.weight ?? {}) : {};
  const records: DnsEndpointRecord[] = [];
  for (const family of writtenFamilies) {
    if (published[family].length > 0)
      records.push(localTargetsRecord(host, policy.ttlSeconds, { family, published }));
    const isPlaceholder = family === "A" && !hasTargets(answered);
    if (answered[family].length === 0 && !isPlaceholder) continue;
    records.push({
      dnsName: host,
      recordType: family,
      recordTTL: policy.ttlSeconds,
      targets: answered[family],
      labels: { strategy: policy.strategyName, ...weightLabels(weights, decision.targets, family) },
    });
  }
  return records;
}

/** The record under which this cluster tells its peers what it can serve itself. */
export function localTargetsRecord(
  host: string,
  ttlSeconds: number,
  of: { readonly family: AddressFamily; readonly published: FamilyTargets },
): DnsEndpointRecord {
  return {
    dnsName: localTargetsName(host),
    recordType: of.family,
    recordTTL: ttlSeconds,
    targets: of.published[of.family],
  };
}

/** Records of one host, by family as `decidedRecords` orders them, and else in the order given. */
export function inWrittenOrder(records: readonly DnsEndpointRecord[]): readonly DnsEndpointRecord[] {
  const rankOf = ({ recordType }: DnsEndpointRecord): number =>
    writtenFamilies.findIndex((family) => family === recordType);
  return records.toSorted((a, b) => rankOf(a) - rankOf(b));
}

/** What a stored DNSEndpoint says about one host. */
export interface StoredHost {
  /** Records of the host itself. */
  readonly answers: readonly DnsEndpointRecord[];
  /** Targets that this cluster had published as its own. */
  readonly published: readonly string[];
}

/**
 * Finds hosts' records in a stored DNSEndpoint. The records are read once, so that looking up each of many hosts costs
 * the same as looking up one.
 */
export function storedHosts(records: readonly DnsEndpointRecord[]): (host: string) => StoredHost {
  const byName = new Map<string, DnsEndpointRecord[]>();
  for (const record of records) {
    const name = canonicalName(record.dnsName ?? "");
    const named = byName.get(name);
    if (named === undefined) byName.set(name, [record]);
    else named.push(record);
  }
  return (host) => ({
    answers: byName.get(canonicalName(host)) ?? [],
    published: (byName.get(canonicalName(localTargetsName(host))) ?? []).flatMap(
      (record) => record.targets ?? [],
    ),
  });
}

/**
 * The stored answers of a host without this cluster's own targets that are known to be dead: what stands in while no
 * decision can be made.
 *
 * @param alive the targets that this cluster can serve at now; none where it is not healthy
 */
export function heldRecords(stored: StoredHost, alive: FamilyTargets): readonly DnsEndpointRecord[] {
  const living = new Set([...alive.A, ...alive.AAAA]);
  const dead = new Set(stored.published.filter((target) => !living.has(target)));
  return withoutTargets(stored.answers, (target) => dead.has(target));
}

/**
 * Records of a host without targets that nobody stands for any more: neither this cluster nor a peer named them last. They
 * stay while it is not known what some peer named.
 */
export function vouchedRecords(
  records: readonly DnsEndpointRecord[],
  by: { readonly published: FamilyTargets; readonly views: readonly PeerView[] },
): readonly DnsEndpointRecord[] {
  if (by.views.some(({ state, targets }) => state !== "empty" && targets.length === 0)) return records;
  const named = by.views.flatMap(({ targets }) => targets);
  const vouched = new Set([...by.published.A, ...by.published.AAAA, ...named]);
  return withoutTargets(records, (target) => !vouched.has(target));
}

function withoutTargets(
  records: readonly DnsEndpointRecord[],
  isLeaving: (target: string) => boolean,
): readonly DnsEndpointRecord[] {
  return records.map((record) => {
    const leaving = new Set((record.targets ?? []).filter(isLeaving));
    if (leaving.size === 0) return record;
    const { labels, ...rest } = record;
    const kept = Object.entries(labels ?? {}).filter(([, value]) => !leaving.has(value));
    return {
      ...rest,
      targets: (record.targets ?? []).filter((target) => !leaving.has(target)),
      ...(labels === undefined ? {} : { labels: Object.fromEntries(kept) }),
    };
  });
}

/** Whether any of the records has a target. */
export function haveTargets(records: readonly DnsEndpointRecord[]): boolean {
  return records.some((record) => (record.targets ?? []).length > 0);
}
