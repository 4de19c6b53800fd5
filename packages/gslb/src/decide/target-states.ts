import { addressFamilies, type AddressFamily } from "./address-family.ts";
import type { HostPlan } from "./host-plan.ts";
import { usableTargets } from "./peer-view.ts";
import type { Reason } from "./strategy.ts";

/**
 * What a cluster does for a host. `serving`: it is answered. `standby`: it could be, and another is. `drained`: it could be, and
 * has weight 0 beside others. `unhealthy`: it says itself that it serves nothing. `unreachable`: it says nothing. `unknown`: it
 * was not asked yet.
 */
export type TargetState = "serving" | "standby" | "drained" | "unhealthy" | "unreachable" | "unknown";

/** Every state, for those who list them. */
export const targetStates: readonly TargetState[] = [
  "serving",
  "standby",
  "drained",
  "unhealthy",
  "unreachable",
  "unknown",
];

/** One cluster's part in one host, by family. */
export interface ClusterTargets {
  readonly geoTag: string;
  readonly family: AddressFamily;
  readonly state: TargetState;
  /** How many addresses it has there; none where it does not serve. */
  readonly count: number;
}

/** Who serves a host, and who does not. One entry per geo tag and family; none while nothing is decided. */
export function targetStatesOf(
  host: HostPlan,
  self: string,
  weights: Readonly<Record<string, number>> = {},
): ClusterTargets[] {
  const { decision } = host;
  if (decision === undefined) return [];
  const isWeighted = [...decision.targets.keys()].some((tag) => (weights[tag] ?? 0) > 0);
  return decision.reasons.flatMap((reason) => {
    const state = stateOf(reason, isWeighted && weights[reason.geoTag] === 0);
    return addressFamilies.map((family) => {
      const isUsable = state === "serving" || state === "standby" || state === "drained";
      return {
        geoTag: reason.geoTag,
        family,
        state,
        count: isUsable ? countOf(host, reason.geoTag, { self, family }) : 0,
      };
    });
  });
}

function countOf(
  host: HostPlan,
  geoTag: string,
  { self, family }: { readonly self: string; readonly family: AddressFamily },
): number {
  const picked = host.decision?.targets.get(geoTag);
  if (picked !== undefined) return picked[family].length;
  if (geoTag === self) return host.exposed[family].length;
  const views = host.views.filter((view) => view.geoTag === geoTag && view.family === family);
  return views.reduce((sum, view) => sum + usableTargets(view).length, 0);
}

function stateOf({ picked, rule }: Reason, isDrained: boolean): TargetState {
  if (picked) return isDrained ? "drained" : "serving";
  switch (rule) {
    case "PeerUnknown":
      return "unknown";
    case "PeerUnreachable":
      return "unreachable";
    case "LocalUnhealthy":
    case "LocalWithoutAddress":
    case "PeerEmpty":
      return "unhealthy";
    case "LocalHealthy":
    case "PeerFresh":
    case "PeerHeld":
    case "Primary":
    case "NotPrimary":
    case "PrimaryUnavailable":
      return "standby";
  }
}
