import type { CopyState, LabLogEntry, TruthState } from "../../lab-state.ts";
import { takenOutVersions } from "./taken-out.ts";

/**
 * What will become of a copy: `fresh` now; `differences` are enough once it is connected; it has to read `everything`; `heldBack`
 * events come when the wire is open; it `differs` and nobody knows; it is `catchingUp` just now.
 */
export type CopyOutlook = "fresh" | "differences" | "everything" | "heldBack" | "differs" | "catchingUp";

/** What a copy would meet if it were connected now. Pure. */
export function copyOutlook(
  copy: Pick<CopyState, "name" | "stale" | "behind" | "wire" | "version" | "heldBack">,
  lab: { readonly truth: Pick<TruthState, "oldestResumable">; readonly log: readonly LabLogEntry[] },
): CopyOutlook {
  if (!copy.stale) return "fresh";
  if (copy.heldBack > 0) return "heldBack";
  if (copy.behind === 0) return "differs";
  if (copy.wire === "open") return takenOutVersions(copy.name, lab.log).size > 0 ? "differs" : "catchingUp";
  return copy.version !== null && copy.version >= lab.truth.oldestResumable ? "differences" : "everything";
}
