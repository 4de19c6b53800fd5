import type { HostHealth } from "./health.ts";
import type { GslbPlan } from "./plan-gslb.ts";
import type { Strategy } from "./strategy.ts";

/** The verdicts on a host. */
export const hostHealths: readonly HostHealth[] = ["Healthy", "Unhealthy", "NotFound"];

/** What k8gb counts of one Gslb. */
export interface GslbFigures {
  /** Hosts by verdict, each there. */
  readonly hosts: ReadonlyMap<HostHealth, number>;
  /** Addresses over all answered hosts. */
  readonly healthyRecords: number;
  /** Own addresses that occur in any answer. */
  readonly healthyLocalRecords: number;
  /** Answered addresses under the own verdict, over all hosts; with failover it says whether this cluster is the primary. */
  readonly answered:
    | {
        readonly strategy: Strategy["type"];
        readonly byStatus: ReadonlyMap<string, number>;
      }
    | undefined;
  /** Addresses by name, `localtargets-` names included. */
  readonly endpoints: ReadonlyMap<string, number>;
}

/** Counts a Gslb by what was last decided for it. Pure. */
export function gslbFigures(
  plan: Pick<GslbPlan, "status" | "hosts" | "policy" | "records">,
  self: string,
): GslbFigures {
  const { status, hosts } = plan;
  const endpoints = new Map<string, number>();
  for (const { dnsName = "", targets = [] } of plan.records ?? [])
    endpoints.set(dnsName, (endpoints.get(dnsName) ?? 0) + (targets?.length ?? 0));
  const byHealth = new Map(hostHealths.map((health) => [health, 0]));
  for (const { health } of hosts) byHealth.set(health, (byHealth.get(health) ?? 0) + 1);
  const answered = Object.values(status.healthyRecords).flat();
  const inAnswers = new Set(answered);
  const own = status.loadBalancer?.exposedIps ?? [];
  return {
    hosts: byHealth,
    healthyRecords: answered.length,
    healthyLocalRecords: own.filter((address) => inAnswers.has(address)).length,
    answered: answeredByStatus(plan, { self, endpoints }),
    endpoints,
  };
}

function answeredByStatus(
  { hosts, policy }: Pick<GslbPlan, "hosts" | "policy">,
  { self, endpoints }: { readonly self: string; readonly endpoints: ReadonlyMap<string, number> },
): GslbFigures["answered"] {
  const strategy = policy.policy?.strategy;
  if (strategy === undefined) return undefined;
  const suffix =
    strategy.type !== "failover" ? "" : strategy.primaryGeoTag === self ? "_primary" : "_secondary";
  const byStatus = new Map(hostHealths.map((health) => [`${health}${suffix}`, 0]));
  for (const { host, health } of hosts) {
    const status = `${health}${suffix}`;
    byStatus.set(status, (byStatus.get(status) ?? 0) + (endpoints.get(host) ?? 0));
  }
  return { strategy: strategy.type, byStatus };
}
