import type { Clock } from "@meridian/runtime";
import { Fifo } from "./fifo.ts";
import { afterAdd, afterDone, afterTake } from "./place.ts";
import type { Place } from "./place.ts";

/** How long a key waits after it failed. */
export interface WorkQueueOptions {
  /** Wait after the first failure of a key; doubles with each. Default 5. */
  readonly firstRetryMs?: number;
  /** Longest wait after a failure. Default 1,000,000. */
  readonly retryMsMax?: number;
}

/**
 * Keys to work on, first in, first out. Adds of a queued key collapse; a key that is added while a worker has it is
 * handed out once more when that worker is done, never to two workers at once.
 *
 * Bounded by the number of distinct keys, which is that of the objects behind them.
 */
export class WorkQueue {
  readonly #clock: Pick<Clock, "monotonicMs" | "after">;
  readonly #firstRetryMs: number;
  readonly #retryMsMax: number;
  readonly #places = new Map<string, Place>();
  /** The keys whose place is `queued`, in order. */
  readonly #order = new Fifo<string>();
  readonly #delayed = new Map<string, { readonly readyAtMs: number; readonly cancel: () => void }>();
  readonly #failures = new Map<string, number>();
  readonly #takers = new Fifo<(key: string | undefined) => void>();
  #idleWaiters: (() => void)[] = [];
  #shutDown = false;

  constructor(
    runtime: { readonly clock: Pick<Clock, "monotonicMs" | "after"> },
    options: WorkQueueOptions = {},
  ) {
    this.#clock = runtime.clock;
    this.#firstRetryMs = options.firstRetryMs ?? 5;
    this.#retryMsMax = options.retryMsMax ?? 1_000_000;
  }

  /** Keys that wait for a worker. */
  get length(): number {
    return this.#order.length;
  }

  /** Keys that a worker has. */
  get running(): number {
    return this.#places.size - this.#order.length;
  }

  /** Keys that will be added later. */
  get delayed(): number {
    return this.#delayed.size;
  }

  /** Adds a key now. Does nothing after `shutDown`. */
  add(key: string): void {
    if (this.#shutDown) return;
    const before = this.#places.get(key);
    const place = afterAdd(before);
    this.#places.set(key, place);
    if (place === "queued" && before !== "queued") this.#offer(key);
  }

  /** Adds a key after `ms`; at once where that is not positive. Of two delays of one key the earlier one counts. */
  addAfter(key: string, ms: number): void {
    if (this.#shutDown) return;
    if (!(ms > 0)) return this.add(key);
    const readyAtMs = this.#clock.monotonicMs() + ms;
    const waiting = this.#delayed.get(key);
    if (waiting !== undefined) {
      if (waiting.readyAtMs <= readyAtMs) return;
      waiting.cancel();
    }
    const cancel = this.#clock.after(ms, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { readyAtMs, cancel });
  }

  /** Adds a key that failed, after a wait that doubles with each failure until `forget`. Returns the wait in ms. */
  addRateLimited(key: string): number {
    const failures = this.failures(key);
    const waitMs = Math.min(this.#firstRetryMs * 2 ** failures, this.#retryMsMax);
    this.#failures.set(key, failures + 1);
    this.addAfter(key, waitMs);
    return waitMs;
  }

  /** The key is well: its next failure counts as its first. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** Failures of a key since it was last forgotten. */
  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** Resolves with the next key, which is the caller's until `done`; with `undefined` once shut down and empty. */
  take(): Promise<string | undefined> {
    const key = this.#order.shift();
    if (key !== undefined) {
      this.#places.set(key, afterTake("queued"));
      return Promise.resolve(key);
    }
    if (this.#shutDown) return Promise.resolve(undefined);
    return new Promise((resolve) => this.#takers.push(resolve));
  }

  /** Gives a key back. It is queued again if it was added since it was taken. */
  done(key: string): void {
    const before = this.#places.get(key);
    const place = afterDone(before);
    if (place === undefined) this.#places.delete(key);
    else if (place !== before) {
      this.#places.set(key, place);
      this.#offer(key);
    }
    this.#checkIdle();
  }

  /** Resolves at the first moment when no key is queued or with a worker; delayed keys do not count. */
  idle(): Promise<void> {
    if (this.#places.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  /**
   * Takes no more keys and forgets the delayed ones. With `drop`, the queued ones as well; else workers still get them.
   * Resolves when every key has been given back.
   */
  shutDown(options: { readonly drop?: boolean } = {}): Promise<void> {
    this.#shutDown = true;
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    if (options.drop === true) {
      for (let key = this.#order.shift(); key !== undefined; key = this.#order.shift())
        this.#places.delete(key);
    }
    for (let taker = this.#takers.shift(); taker !== undefined; taker = this.#takers.shift())
      taker(undefined);
    this.#checkIdle();
    return this.idle();
  }

  /** Hands a key to a worker that waits, or queues it. */
  #offer(key: string): void {
    const taker = this.#takers.shift();
    if (taker === undefined) return this.#order.push(key);
    this.#places.set(key, afterTake("queued"));
    taker(key);
  }

  #checkIdle(): void {
    if (this.#places.size > 0) return;
    const waiters = this.#idleWaiters;
    this.#idleWaiters = [];
    for (const resolve of waiters) resolve();
  }
}
