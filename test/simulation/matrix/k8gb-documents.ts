import { parentName, tags, type Tag } from "../fleet/fleet-map.ts";
import { isTogether, type Cut } from "./cuts.ts";
import { primary, type MatrixCase } from "./matrix-cases.ts";

/**
 * What k8gb's own document on split brain says that a cluster answers; `undefined` where it says nothing. It speaks of two
 * clusters and of who reaches the edge DNS server, and not of clusters that reach it and not each other.
 */
export function documentedByK8gb(cut: Cut, of: MatrixCase, tag: Tag): readonly Tag[] | undefined {
  const isHealthy = (each: Tag): boolean => each !== primary || of.isPrimaryHealthy;
  const own = isHealthy(tag) ? [tag] : [];
  const reachesEdge = (each: Tag): boolean => isTogether(cut, each, parentName);
  // "Only its own": round robin, weights and geoip; and each secondary under failover.
  if (!reachesEdge(tag)) return own;
  const healthy = tags.filter(isHealthy);
  if (cut.length === 1) return of.strategy.type === "failover" && isHealthy(primary) ? [primary] : healthy;
  if (of.strategy.type !== "failover" || tag === primary) {
    if (of.strategy.type === "failover" && isHealthy(primary)) return own;
    return undefined;
  }
  // The primary cannot reach the edge: the secondary treats it as unreachable.
  return reachesEdge(primary) ? undefined : own;
}
