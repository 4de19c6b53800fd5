import type { CopyState, TruthState } from "../../lab-state.ts";

/**
 * What will become of a copy: `fresh` now; `differences` are enough once it is connected; it has to read `everything`; `heldBack`
 * events come when the wire is open; it `differs` and nobody knows; it is `catchingUp` just now.
 */
export type CopyOutlook = "fresh" | "differences" | "everything" | "heldBack" | "differs" | "catchingUp";

/** What a copy would meet if it were connected now. Pure. */
export function copyOutlook(
  copy: Pick<CopyState, "stale" | "behind" | "wire" | "version" | "heldBack">,
  truth: Pick<TruthState, "oldestResumable">,
): CopyOutlook {
  if (!copy.stale) return "fresh";
  if (copy.behind === 0) return "differs";
  if (copy.wire === "silent") return "heldBack";
  if (copy.wire === "open") return copy.heldBack > 0 ? "heldBack" : "catchingUp";
  return copy.version !== null && copy.version >= truth.oldestResumable ? "differences" : "everything";
}
