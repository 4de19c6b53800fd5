import type { EventNote } from "@meridian/controller";
import { findCondition, type Condition } from "@meridian/kube";
import { clusterChanges } from "../decide/cluster-change.ts";
import type { GslbPlan } from "../decide/plan-gslb.ts";

/** Reasons that follow from what another condition tells. */
const consequences: readonly string[] = ["NothingToPublish", "NotAccepted"];

/** What of a status events are told from. */
interface ConditionedStatus {
  readonly conditions?: readonly Condition[];
}

/**
 * What to tell about conditions that changed: each that turned bad, or is bad for another reason, and each that is good
 * again. A Gslb that was never looked at and is fine is no news.
 */
export function conditionNotes(
  before: ConditionedStatus | undefined,
  after: ConditionedStatus,
): readonly EventNote[] {
  const notes: EventNote[] = [];
  for (const condition of after.conditions ?? []) {
    const old = findCondition(before?.conditions, condition.type);
    const isSame =
      old?.status === condition.status &&
      old.reason === condition.reason &&
      old.message === condition.message;
    const isGood = condition.status === "True" && condition.reason !== "AcceptedWithWarnings";
    if (isSame || condition.status === "Unknown" || consequences.includes(condition.reason)) continue;
    if (!isGood) notes.push({ type: "Warning", ...wording(condition) });
    else if (old?.status === "False")
      notes.push({
        type: "Normal",
        reason: condition.reason,
        message: `${condition.type} again: ${condition.message}`,
      });
  }
  return notes;
}

/** Tells of each host whose clusters changed: which now answer, and why. */
export function pickNotes(before: GslbPlan | undefined, after: GslbPlan): readonly EventNote[] {
  return clusterChanges(before, after).map(({ host, from, to, why }) => ({
    type: to.length === 0 ? "Warning" : "Normal",
    reason: "ClustersChanged",
    message: `${host} is answered from ${listed(to)} instead of ${listed(from)}: ${why}`,
  }));
}

/** Two events that users of k8gb look for keep their reason and the shape of their text. */
function wording(condition: {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}): Pick<EventNote, "reason" | "message"> {
  if (condition.type !== "ResolvedRefs" || condition.reason === "AddressesMissing")
    return { reason: condition.reason, message: condition.message };
  return condition.reason === "ExposedAddressesUnresolved"
    ? {
        reason: "ExposedIPResolutionError",
        message: `getting load balancer exposed IPs (${condition.message})`,
      }
    : { reason: "ReconcileError", message: `error resolving references (${condition.message})` };
}

function listed(tags: readonly string[]): string {
  return tags.length === 0 ? "no cluster" : tags.join(", ");
}
