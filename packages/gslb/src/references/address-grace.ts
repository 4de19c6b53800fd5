import { findCondition, formatTime } from "@meridian/kube";
import { hasTargets, splitFamilies } from "../decide/address-family.ts";
import type { ExposedOutcome } from "../decide/gslb-snapshot.ts";
import type { GslbStatus } from "../resources/gslb.ts";
import { objectSource } from "./exposed-addresses.ts";

/** What is known of the addresses of before. */
export interface AddressGrace {
  /** What the last reconcile of this process saw. */
  readonly before: ExposedOutcome | undefined;
  readonly status: GslbStatus | undefined;
  readonly graceMs: number;
  /** Wall-clock milliseconds. */
  readonly now: number;
}

/**
 * Keeps the last addresses for a while when an object that is there does not show any more: a controller that is upgraded,
 * or whose API server is throttled, empties the status for a moment and fills it again. What the user took away (the
 * object, its type, an annotation) is not kept. Where none is kept, what is lacking becomes the problem.
 */
export function keepAddresses(exposed: ExposedOutcome, grace: AddressGrace): ExposedOutcome {
  const { before, status, graceMs, now } = grace;
  const last = splitFamilies(status?.loadBalancer?.exposedIps ?? []).targets;
  const isMissing =
    exposed.source === objectSource &&
    exposed.problem === undefined &&
    exposed.targets !== undefined &&
    !hasTargets(exposed.targets);
  const wasFromObject = before === undefined || before.source === objectSource;
  if (!isMissing || !wasFromObject || !hasTargets(last)) return withoutGrace(exposed);
  const keptUntil = before?.keptUntil ?? Math.floor((missingSince(status) ?? now) / 1000) * 1000 + graceMs;
  if (keptUntil <= now) return withoutGrace(exposed);
  const why = exposed.lacking ?? `${exposed.source} shows no address any more`;
  const problem = `${why}; the last ones are kept until ${formatTime(keptUntil)}, should it be for a moment only`;
  return { source: exposed.source, targets: last, problem, keptUntil };
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
