import type { Clock } from "@meridian/runtime";

/** Wall time as signatures, keys and cookies have it: whole seconds since the epoch. */
export function wallSeconds(clock: Pick<Clock, "now">): number {
  return Math.floor(clock.now() / 1000);
}
