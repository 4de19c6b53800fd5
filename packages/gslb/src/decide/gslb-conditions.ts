import { setCondition, type Condition } from "@meridian/kube";

/**
 * What a Gslb's conditions are about; each stands for itself, so a sick backend never looks like a broken spec.
 *
 * `Accepted`: the spec and its hosts are valid and nobody else's. `ResolvedRefs`: what the spec refers to was found, and
 * its addresses too. `Programmed`: the DNSEndpoint says what was decided. `Healthy`: the own Services behind the hosts
 * are. `PeersReachable`: every peer answers for the hosts. `PeersCarry`, where peers tell: each has a Gslb for them too. `GeoReady`, of `geoip` only: the DNS server knows places.
 */
export type GslbConditionType =
  "Accepted" | "ResolvedRefs" | "Programmed" | "Healthy" | "PeersReachable" | "PeersCarry" | "GeoReady";

/** A condition before it is dated. */
export interface ConditionOutcome {
  readonly type: GslbConditionType;
  readonly status: "True" | "False" | "Unknown";
  /** CamelCase. */
  readonly reason: string;
  readonly message: string;
}

/** Brings a status' conditions up to date; returns the given array where nothing changed. */
export function withConditions(
  conditions: readonly Condition[] | undefined,
  outcomes: readonly ConditionOutcome[],
  at: { readonly generation: number | undefined; readonly now: number },
): readonly Condition[] {
  let result: readonly Condition[] = conditions ?? [];
  for (const outcome of outcomes) {
    const observed = at.generation === undefined ? {} : { observedGeneration: at.generation };
    result = setCondition(result, { ...outcome, ...observed }, at.now);
  }
  return result;
}
