import type { Clock } from "@meridian/runtime";

/** How many requests a client sends: `qps` a second in the long run, `burst` at once. */
export interface RateLimit {
  readonly qps: number;
  readonly burst: number;
}

/**
 * A token bucket in the form of one number: the time at which the bucket would be full again (GCRA). Requests leave in
 * the order in which they asked.
 */
export class RequestRate {
  readonly #clock: Pick<Clock, "monotonicMs" | "sleep">;
  readonly #intervalMs: number;
  readonly #toleranceMs: number;
  #fullAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, "monotonicMs" | "sleep">, limit: RateLimit) {
    if (!(limit.qps > 0) || !(limit.burst >= 1)) {
      throw new RangeError(
        `a rate limit of ${limit.qps} requests a second and a burst of ${limit.burst} lets nothing through`,
      );
    }
    this.#clock = clock;
    this.#intervalMs = 1000 / limit.qps;
    this.#toleranceMs = this.#intervalMs * (limit.burst - 1);
  }

  /** Takes one token if it is there within `waitMsMax`, and says how long to wait for it; else takes none. */
  take(waitMsMax: number): number | undefined {
    const nowMs = this.#clock.monotonicMs();
    const fullAtMs = Math.max(this.#fullAtMs, nowMs);
    const waitMs = Math.max(0, fullAtMs - this.#toleranceMs - nowMs);
    if (waitMs > waitMsMax) return undefined;
    this.#fullAtMs = fullAtMs + this.#intervalMs;
    return waitMs;
  }

  /** Waits for a token. False, at once, if none comes within `waitMsMax`. Rejects with the signal's reason. */
  async wait(waitMsMax: number, signal: AbortSignal): Promise<boolean> {
    const waitMs = this.take(waitMsMax);
    if (waitMs === undefined) return false;
    if (waitMs > 0) await this.#clock.sleep(waitMs, signal);
    return true;
  }
}
