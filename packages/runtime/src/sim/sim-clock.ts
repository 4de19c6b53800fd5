import type { Clock } from "../clock.ts";
import type { Boot } from "./boot.ts";
import { never } from "./boot.ts";
import type { World } from "./world.ts";

/** The clock of one boot: virtual time, seen through the node's own skew. */
export class SimClock implements Clock {
  readonly #world: World;
  readonly #boot: Boot;
  readonly #skewMs: () => number;
  readonly #monotonicStartMs: number;

  constructor(world: World, boot: Boot, options: { skewMs: () => number; monotonicStartMs: number }) {
    this.#world = world;
    this.#boot = boot;
    this.#skewMs = options.skewMs;
    this.#monotonicStartMs = options.monotonicStartMs;
  }

  now(): number {
    return Math.floor(this.#world.startTimeMs + this.#world.nowMs + this.#skewMs());
  }

  monotonicMs(): number {
    return this.#monotonicStartMs + this.#world.nowMs;
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
    const atMs = this.#world.nowMs + Math.max(1, ms || 0);
    const timer = this.#world.timers.schedule(atMs, callback, this.#boot);
    return () => this.#world.timers.cancel(timer);
  }
}
