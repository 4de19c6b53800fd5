import type { DnsEndpointRecord } from "../resources/dns-endpoint.ts";
import { noTargets } from "./address-family.ts";
import { decidedRecords, haveTargets, heldRecords, storedHosts } from "./host-records.ts";
import { expiresAt, viewAt, type PeerView } from "./peer-view.ts";
import type { PublishedPolicy } from "./published-host.ts";
import { decide } from "./strategy.ts";

/** A host that peers carry and this cluster does not, as it stands now. */
export interface FleetHostSnapshot {
  readonly host: string;
  /** How it is balanced; absent where no peer tells. */
  readonly policy: PublishedPolicy | undefined;
  /** The own geo tag. */
  readonly geoTag: string;
  /** Every peer's view of it, both families. */
  readonly views: readonly PeerView[];
  /** What was answered before. */
  readonly stored: readonly DnsEndpointRecord[];
  /** Wall-clock milliseconds. */
  readonly now: number;
}

/** How such a host is answered, and when that ends by itself, in milliseconds from now. */
export interface FleetHostPlan {
  readonly records: readonly DnsEndpointRecord[];
  readonly afterMs?: number;
}

/** As k8gb answers what says nothing else. */
const defaultPolicy: PublishedPolicy = {
  strategy: { type: "roundRobin" },
  strategyName: "roundRobin",
  ttlSeconds: 30,
  splitBrainThresholdSeconds: 0,
};

/**
 * Decides how a host without a Gslb here is answered: as the clusters that carry it answer, from what each says of itself. A
 * host that nobody serves now keeps an empty record: it exists (NODATA). Pure.
 */
export function planFleetHost(snapshot: FleetHostSnapshot): FleetHostPlan {
  const { host, policy = defaultPolicy, geoTag, stored, now } = snapshot;
  const threshold = policy.splitBrainThresholdSeconds;
  const views = snapshot.views.map((view) => viewAt(view, threshold, now));
  const held = heldRecords(storedHosts(stored)(host), noTargets);
  // A restart is never a failover.
  if (views.some(({ state }) => state === "unknown") && haveTargets(held)) return { records: held };
  const decision = decide({
    ...{ strategy: policy.strategy, self: geoTag, now },
    local: { healthy: false, targets: noTargets },
    peers: views,
    splitBrainThresholdSeconds: threshold,
  });
  const records = decidedRecords(
    host,
    { ...policy, healthPolicy: "Any" },
    { published: noTargets, decision },
  );
  const expiries = views.flatMap((view) => expiresAt(view, threshold) ?? []);
  return expiries.length === 0 ? { records } : { records, afterMs: Math.max(1, Math.min(...expiries) - now) };
}
