/**
 * What is asked for a key and not handed out yet. A key has at most one such wish, beside which it may be with a worker:
 *
 *     absent --add--> waiting --take--> running --done--> absent
 *                                        |  ^
 *                                       add take
 *                                        v  |
 *                      running, and waiting --done--> waiting
 *
 * So it is never queued twice nor worked on twice at once, and what is added during a run is one more run after it.
 */
export interface Wish {
  /** The higher goes first. */
  readonly priority: number;
  /** By the clock that only rises; not handed out earlier. */
  readonly readyAtMs: number;
}

/** Two wishes are one: as urgent as the more urgent of both, and due as early as the earlier. */
export function mergeWishes(before: Wish | undefined, wish: Wish): Wish {
  if (before === undefined) return wish;
  const priority = Math.max(before.priority, wish.priority);
  const readyAtMs = Math.min(before.readyAtMs, wish.readyAtMs);
  return priority === before.priority && readyAtMs === before.readyAtMs ? before : { priority, readyAtMs };
}
