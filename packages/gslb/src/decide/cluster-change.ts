import type { GslbPlan } from "./plan-gslb.ts";

/** Why other clusters answer for a host than before. The words are labels of a metric: a closed set. */
export type ChangeCause = "failover" | "failback" | "emptied" | "revived" | "joined" | "left" | "moved";

/** A host that is answered from other clusters than before. */
export interface ClusterChange {
  readonly host: string;
  /** Geo tags, sorted. */
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly cause: ChangeCause;
  /** One sentence for people. */
  readonly why: string;
}

/** Which hosts are answered from other clusters than before, and why. A host that is new, or not decided, is no change. */
export function clusterChanges(before: GslbPlan | undefined, after: GslbPlan): readonly ClusterChange[] {
  const changes: ClusterChange[] = [];
  const olds = new Map(before?.hosts.map((host) => [host.host, host]));
  const strategy = after.policy.policy?.strategy;
  const primary = strategy?.type === "failover" ? strategy.primaryGeoTag : undefined;
  for (const { host, decision, held } of after.hosts) {
    const old = olds.get(host);
    if (old?.decision === undefined || decision === undefined || old.held || held) continue;
    const from = [...old.decision.targets.keys()];
    const to = [...decision.targets.keys()];
    if (from.join() === to.join()) continue;
    const why = decision.reasons.map((reason) => reason.text).join("; ");
    changes.push({ host, from, to, cause: causeOf(from, to, primary), why });
  }
  return changes;
}

function causeOf(from: readonly string[], to: readonly string[], primary: string | undefined): ChangeCause {
  if (to.length === 0) return "emptied";
  if (from.length === 0) return "revived";
  if (primary !== undefined && from.includes(primary) && !to.includes(primary)) return "failover";
  if (primary !== undefined && !from.includes(primary) && to.includes(primary)) return "failback";
  if (from.every((tag) => to.includes(tag))) return "joined";
  return to.every((tag) => from.includes(tag)) ? "left" : "moved";
}
