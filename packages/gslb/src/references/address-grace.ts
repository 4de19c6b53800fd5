import { findCondition, formatTime } from "@meridian/kube";
import type { Clock } from "@meridian/runtime";
import { hasTargets, splitFamilies } from "../decide/address-family.ts";
import type { ExposedOutcome, KeptAddresses } from "../decide/gslb-snapshot.ts";
import type { GslbStatus } from "../resources/gslb.ts";
import { objectSource } from "./exposed-addresses.ts";

/** What is known of the addresses of before. */
export interface AddressGrace {
  /** What the last reconcile of this process saw. */
  readonly before: ExposedOutcome | undefined;
  readonly status: GslbStatus | undefined;
  readonly graceMs: number;
  readonly clock: Pick<Clock, "now" | "monotonicMs">;
}

/**
 * Keeps the last addresses for a while when an object that is there does not show any more: a controller that is upgraded,
 * or whose API server is throttled, empties the status for a moment and fills it again. What the user took away (the
 * object, its type, an annotation) is not kept. Where none is kept, what is lacking becomes the problem.
 */
export function keepAddresses(exposed: ExposedOutcome, grace: AddressGrace): ExposedOutcome {
  const { before, status } = grace;
  const last = splitFamilies(status?.loadBalancer?.exposedIps ?? []).targets;
  const isMissing =
    exposed.source === objectSource &&
    exposed.problem === undefined &&
    exposed.targets !== undefined &&
    !hasTargets(exposed.targets);
  const wasFromObject = before === undefined || before.source === objectSource;
  if (!isMissing || !wasFromObject || !hasTargets(last)) return withoutGrace(exposed);
  const kept = keptAddresses(grace);
  if (kept.forMs <= 0) return withoutGrace(exposed);
  const why = exposed.lacking ?? `${exposed.source} shows no address any more`;
  const problem = `${why}; the last ones are kept until ${formatTime(kept.until)}, should it be for a moment only`;
  return { source: exposed.source, targets: last, problem, kept };
}

/** Over a restart it hangs on the wall clock, within a process on the one that only rises. */
function keptAddresses({ before, status, graceMs, clock }: AddressGrace): KeptAddresses {
  const monotonicMs = clock.monotonicMs();
  if (before?.kept !== undefined)
    return { ...before.kept, forMs: before.kept.untilMonotonicMs - monotonicMs };
  const now = clock.now();
  const until = Math.floor((missingSince(status) ?? now) / 1000) * 1000 + graceMs;
  const forMs = Math.min(until - now, graceMs);
  return { until, untilMonotonicMs: monotonicMs + forMs, forMs };
}

function withoutGrace(exposed: ExposedOutcome): ExposedOutcome {
  const { lacking, problem = lacking } = exposed;
  return lacking === undefined || problem === undefined ? exposed : { ...exposed, problem };
}

/** After a restart only the condition tells. */
function missingSince(status: GslbStatus | undefined): number | undefined {
  const condition = findCondition(status?.conditions, "ResolvedRefs");
  if (condition?.reason !== "AddressesMissing") return undefined;
  const since = Date.parse(condition.lastTransitionTime);
  return Number.isNaN(since) ? undefined : since;
}
