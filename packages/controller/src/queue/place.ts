/**
 * The place of one key in a work queue. A key has one place, so it is never queued twice nor worked on twice at once.
 * A key without a place is absent: `undefined`.
 *
 *     absent --add--> queued --take--> running --done--> absent
 *                                         |  ^
 *                                        add  take
 *                                         v  |
 *                     running, changed since --done--> queued
 */
export type Place = "queued" | "running" | "running, changed since";

/** However often a key is added while it is queued or worked on, it is worked on once more. */
export function afterAdd(place: Place | undefined): Place {
  return place === undefined || place === "queued" ? "queued" : "running, changed since";
}

/** A worker takes a queued key; what is added from now on counts for the next run. */
export function afterTake(_place: "queued"): Place {
  return "running";
}

/** The worker has finished. */
export function afterDone(place: Place | undefined): Place | undefined {
  return place === "running, changed since" ? "queued" : place === "running" ? undefined : place;
}
