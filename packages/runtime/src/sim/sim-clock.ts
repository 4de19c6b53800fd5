import type { Clock } from "../clock.ts";
import type { Boot } from "./boot.ts";
import { never } from "./boot.ts";
import type { World } from "./world.ts";

/** How a clock differs from the world's. */
export interface SimClockOptions {
  readonly skewMs: () => number;
  /** What the monotonic clock shows at the start of the boot. */
  readonly monotonicStartMs: number;
  /** How many milliseconds pass on it in one of the world. */
  readonly rate: number;
}

/** The clock of one boot: virtual time, seen through the node's own skew. */
export class SimClock implements Clock {
  readonly #world: World;
  readonly #boot: Boot;
  readonly #skewMs: () => number;
  readonly #monotonicStartMs: number;
  readonly #rate: number;

  constructor(world: World, boot: Boot, options: SimClockOptions) {
    this.#world = world;
    this.#boot = boot;
    this.#skewMs = options.skewMs;
    this.#rate = options.rate;
    this.#monotonicStartMs = options.monotonicStartMs - world.nowMs * options.rate;
  }

  now(): number {
    return Math.floor(this.#world.startTimeMs + this.#world.nowMs * this.#rate + this.#skewMs());
  }

  monotonicMs(): number {
    return this.#monotonicStartMs + (this.#world.nowMs - this.#boot.suspendedMs) * this.#rate;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (!this.#boot.alive) return never();
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        cancel();
        forget();
        signal?.removeEventListener("abort", onAbort);
      };
      const onAbort = (): void => {
        stop();
        reject(signal?.reason);
      };
      const cancel = this.after(ms, () => {
        stop();
        resolve();
      });
      const forget = this.#boot.onEnd(stop);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  after(ms: number, callback: () => void): () => void {
    if (!this.#boot.alive || ms === Infinity) return () => {};
    // As on the real clock nothing waits for less than a millisecond, so a loop of empty waits lets time go on.
    const atMs = this.#world.nowMs + Math.max(1, ms || 0) / this.#rate;
    const timer = this.#world.timers.schedule(atMs, callback, this.#boot);
    return () => this.#world.timers.cancel(timer);
  }
}
