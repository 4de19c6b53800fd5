import { formatTime } from "./timestamp.ts";

/** One entry of `status.conditions` (API conventions, "Typical status properties"). */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly observedGeneration?: number;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

/** The condition of a type, or `undefined`. */
export function findCondition<T extends { readonly type: string }>(
  conditions: readonly T[] | undefined,
  type: string,
): T | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** True if the condition of that type exists and is `True`. */
export function isConditionTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return findCondition(conditions, type)?.status === "True";
}

/**
 * Replaces or appends the condition of a type. `lastTransitionTime` becomes `now` (ms since the epoch) only where
 * the status changes; otherwise it stays, so that writing the same condition again changes nothing. If nothing
 * changes at all, the given array itself is returned.
 */
export function setCondition(
  conditions: readonly Condition[] | undefined,
  condition: Omit<Condition, "lastTransitionTime">,
  now: number,
): readonly Condition[] {
  const old = findCondition(conditions, condition.type);
  const moved = old === undefined || old.status !== condition.status;
  const next: Condition = {
    ...(old?.observedGeneration === undefined ? {} : { observedGeneration: old.observedGeneration }),
    ...condition,
    lastTransitionTime: moved ? formatTime(now) : old.lastTransitionTime,
  };
  if (conditions === undefined || old === undefined) return [...(conditions ?? []), next];
  const same =
    !moved &&
    old.reason === next.reason &&
    old.message === next.message &&
    old.observedGeneration === next.observedGeneration;
  return same ? conditions : conditions.map((each) => (each === old ? next : each));
}
