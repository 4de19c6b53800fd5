import type { Boot } from "./boot.ts";
import type { Prng } from "./prng.ts";
import type { TimerQueue } from "./timer-queue.ts";
import type { Trace } from "./trace.ts";

/** What all parts of a simulation share. */
export interface World {
  /** Virtual milliseconds since the start. */
  readonly nowMs: number;
  /** The wall time at the start. */
  readonly startTimeMs: number;
  readonly timers: TimerQueue;
  readonly trace: Trace;
  /** A source of its own for each purpose; the same one for the same purpose. */
  random(purpose: string): Prng;
}

/** Calls back after a while, unless `owner` has ended by then. */
export function afterIn(
  world: World,
  delayMs: number,
  timer: { callback: () => void; owner?: Boot },
): () => void {
  const scheduled = world.timers.schedule(world.nowMs + delayMs, timer.callback, timer.owner);
  return () => world.timers.cancel(scheduled);
}
