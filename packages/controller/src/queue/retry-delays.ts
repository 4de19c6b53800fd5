import type { Clock } from "@meridian/runtime";
import { RequestRate } from "../client/request-rate.ts";
import type { RateLimit } from "../client/request-rate.ts";

/** How long a key waits after it failed: the longer of what its own failures and what all retries together ask for. */
export interface RetryOptions {
  /** Wait after the first failure of a key; doubles with each. Default 5. */
  readonly firstRetryMs?: number;
  /** Longest wait for the key's own failures. Default 1,000,000. */
  readonly retryMsMax?: number;
  /** All retries of all keys: so many a second in the long run, and at once. */
  readonly retryRate?: RateLimit | "unlimited";
}

/** client-go's bound on all retries of a queue. */
const retryRateDefault: RateLimit = { qps: 10, burst: 100 };

/** Counts the failures of keys, and says how long each waits. */
export class RetryDelays {
  readonly #firstRetryMs: number;
  readonly #retryMsMax: number;
  readonly #rate: RequestRate | undefined;
  readonly #failures = new Map<string, number>();

  constructor(clock: Pick<Clock, "monotonicMs" | "sleep">, options: RetryOptions) {
    this.#firstRetryMs = options.firstRetryMs ?? 5;
    this.#retryMsMax = options.retryMsMax ?? 1_000_000;
    const { retryRate = retryRateDefault } = options;
    this.#rate = retryRate === "unlimited" ? undefined : new RequestRate(clock, retryRate);
  }

  /** Counts one more failure, and returns the wait after it in ms. */
  fail(key: string): number {
    const failures = this.of(key);
    this.#failures.set(key, failures + 1);
    const ownMs = Math.min(this.#firstRetryMs * 2 ** failures, this.#retryMsMax);
    return Math.max(ownMs, this.#rate?.take(Infinity) ?? 0);
  }

  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** Failures of a key since it was last forgotten. */
  of(key: string): number {
    return this.#failures.get(key) ?? 0;
  }
}
