import { findCondition } from "@meridian/kube";
import type { Logger } from "@meridian/runtime";
import { clusterChanges } from "../decide/cluster-change.ts";
import type { GslbPlan } from "../decide/plan-gslb.ts";
import { answeredTargets } from "../decide/strategy.ts";

/**
 * Logs what becomes of Gslbs, in the words that users of k8gb look for. Only what is new is logged: a system at rest says
 * nothing.
 */
export class GslbLog {
  readonly #log: Logger;
  readonly #geoTag: string;

  constructor(log: Logger, geoTag: string) {
    this.#log = log.child({ controller: "gslb" });
    this.#geoTag = geoTag;
  }

  onPass(key: string, before: GslbPlan | undefined, after: GslbPlan): void {
    const changed = new Map(clusterChanges(before, after).map((change) => [change.host, change]));
    const olds = new Map(before?.hosts.map((host) => [host.host, host]));
    if (before?.policy.policy?.strategyName !== after.policy.policy?.strategyName)
      this.#log.debug("Resolved strategy", { gslb: key, strategy: after.policy.policy?.strategyName });
    const isHomeless = findCondition(after.status.conditions, "Accepted")?.reason === "HostOutsideZones";
    if (isHomeless && after.hosts.length === 0 && before?.hosts.length !== 0)
      this.#log.info("Skipping reconciliation: ZoneDelegation is not present or Status is empty", {
        gslb: key,
      });
    for (const { host, health, decision } of after.hosts) {
      if (decision === undefined) continue;
      const { A, AAAA } = answeredTargets(decision);
      const targets = [...A, ...AAAA];
      const old = olds.get(host)?.decision;
      const was = old === undefined ? undefined : answeredTargets(old);
      if (was !== undefined && [...was.A, ...was.AAAA].join() === targets.join()) continue;
      const change = changed.get(host);
      const about = { gslb: key, host, targets };
      if (change?.cause === "failover") this.#logFailover(after, { ...about, workload: health });
      this.#log.info("Final target list", {
        ...about,
        ...(change === undefined ? {} : { cause: change.cause, from: change.from, to: change.to }),
      });
    }
  }

  /** The primary tells of itself, every other cluster that it steps in. */
  #logFailover(plan: GslbPlan, about: Readonly<Record<string, unknown>>): void {
    const strategy = plan.policy.policy?.strategy;
    const isPrimary = strategy?.type === "failover" && strategy.primaryGeoTag === this.#geoTag;
    const role = isPrimary ? "primary" : "secondary";
    this.#log.info(
      isPrimary
        ? "Executing failover strategy for primary cluster"
        : "Executing failover strategy for secondary cluster",
      { ...about, cluster: this.#geoTag, role },
    );
  }
}
