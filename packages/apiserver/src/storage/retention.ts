import type { History } from "./history.ts";
import type { Revision } from "./storage.ts";

/** How much history a store keeps by itself. What a rule forgets is answered 410 by the API. */
export interface RetentionPolicy {
  /** Kept however old they are, so that watchers of a quiet store resume without a new list. */
  readonly revisionsMin: number;
  /** Never kept more. */
  readonly revisionsMax: number;
  /** Never more bytes of superseded values, also where that leaves fewer than `revisionsMin`. */
  readonly bytesMax: number;
  /** Older events beyond `revisionsMin` are forgotten. A client resumes from bookmarks well within it. */
  readonly ageMs: number;
}

export const defaultRetention: RetentionPolicy = {
  revisionsMin: 1_000,
  revisionsMax: 100_000,
  bytesMax: 256 * 1_024 * 1_024,
  ageMs: 10 * 60_000,
};

/** Most revisions forgotten in one step, so that no single compaction holds up the writes. */
const stepRevisionsMax = 4_096;

/**
 * The revision to compact to now, or `undefined`. Pure.
 *
 * The hard limits have an eighth of slack: a compaction is a write of its own and should carry many revisions.
 */
export function chooseCompaction(
  history: History,
  policy: RetentionPolicy,
  nowMs: number,
): Revision | undefined {
  const { compacted, newest } = history;
  let target: number = compacted;

  if (history.length > policy.revisionsMax) target = newest - slackened(policy.revisionsMax);

  if (history.sizeBytes > policy.bytesMax) {
    const share = slackened(policy.bytesMax) / history.sizeBytes;
    target = Math.max(target, newest - Math.floor(history.length * share));
  }

  // Ages fall with the revision, so the search can halve.
  let low: number = compacted;
  let high = Math.max(newest - policy.revisionsMin, low);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (nowMs - history.timeAt(middle) > policy.ageMs) low = middle;
    else high = middle - 1;
  }
  target = Math.max(target, low);

  target = Math.min(target, compacted + stepRevisionsMax);
  return target > compacted ? (target as Revision) : undefined;
}

function slackened(limit: number): number {
  return limit - Math.floor(limit / 8);
}
