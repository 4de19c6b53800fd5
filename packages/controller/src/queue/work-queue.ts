import type { Clock } from "@meridian/runtime";
import { DelayedKeys } from "./delayed-keys.ts";
import { Fifo } from "./fifo.ts";
import { mergeWishes } from "./wish.ts";
import type { Wish } from "./wish.ts";
import { ReadyKeys } from "./ready-keys.ts";
import { RetryDelays } from "./retry-delays.ts";
import type { RetryOptions } from "./retry-delays.ts";

/**
 * How long keys that failed wait, and where the queue reports to. Retries are by default bounded as client-go's are: 10 a
 * second, 100 at once.
 */
export interface WorkQueueOptions extends RetryOptions {
  /** For metrics. Default: empty. */
  readonly name?: string;
  readonly meter?: WorkQueueMeter;
}

/** Where queues report to, for metrics: a `WorkQueueMetrics`. */
export interface WorkQueueMeter {
  /** Called once for each queue, which can be read at any time. */
  observe(queue: Pick<WorkQueue, "name" | "depths" | "runningMs">): WorkQueueObserver;
}

/** Told of what happens in one queue. */
export interface WorkQueueObserver {
  /** A key that was not waited for has been added. */
  onAdd(): void;
  /** A worker got a key that was ready for so long. */
  onTake(waitedMs: number): void;
  /** A worker gave a key back that it had for so long. */
  onDone(workedMs: number): void;
  /** A key has failed. */
  onRetry(): void;
}

/** How urgently a key is added. */
export interface AddOptions {
  /** The higher goes first. Default 0. */
  readonly priority?: number;
}

/** A key that a worker has. */
export interface TakenKey {
  readonly key: string;
  readonly priority: number;
}

/** What the queue knows of one key. */
interface Entry {
  wish: Wish | undefined;
  /** Since when the wish is ready; for the observer. */
  readySinceMs: number;
  /** Since when a worker has the key. */
  takenAtMs: number | undefined;
}

/**
 * Keys to work on. The highest priority goes first, within it namespaces take turns, within one it is first in, first out.
 * Adds of a key that waits are one: the higher priority counts, and the earlier time. A key that is added while a worker
 * has it is handed out once more when that worker is done, never to two workers at once.
 *
 * Bounded by the number of distinct keys, which is that of the objects behind them.
 */
export class WorkQueue {
  readonly name: string;
  readonly #clock: Pick<Clock, "monotonicMs" | "after" | "sleep">;
  readonly #observer: WorkQueueObserver | undefined;
  readonly #retries: RetryDelays;
  readonly #entries = new Map<string, Entry>();
  readonly #ready = new ReadyKeys();
  readonly #delayed: DelayedKeys;
  readonly #takers = new Fifo<(taken: TakenKey | undefined) => void>();
  /** The entries of keys that a worker has. */
  readonly #taken = new Set<Entry>();
  #idleWaiters: (() => void)[] = [];
  #shutDown = false;

  constructor(
    runtime: { readonly clock: Pick<Clock, "monotonicMs" | "after" | "sleep"> },
    options: WorkQueueOptions = {},
  ) {
    this.name = options.name ?? "";
    this.#clock = runtime.clock;
    this.#retries = new RetryDelays(runtime.clock, options);
    this.#delayed = new DelayedKeys(runtime.clock, (key) => this.#onDue(key));
    this.#observer = options.meter?.observe(this);
  }

  /** Keys that wait for a worker. */
  get length(): number {
    return this.#ready.size;
  }

  /** How many of them have each priority. */
  get depths(): ReadonlyMap<number, number> {
    return this.#ready.depths();
  }

  /** Keys that a worker has. */
  get running(): number {
    return this.#taken.size;
  }

  /** Keys that are due later. */
  get delayed(): number {
    return this.#delayed.size;
  }

  /** How long each worker has had its key by now, in ms. */
  runningMs(): readonly number[] {
    const nowMs = this.#clock.monotonicMs();
    return Array.from(this.#taken, ({ takenAtMs = nowMs }) => nowMs - takenAtMs);
  }

  /** Adds a key now. Does nothing after `shutDown`. */
  add(key: string, options: AddOptions = {}): void {
    this.#wish(key, { priority: options.priority ?? 0, readyAtMs: -Infinity });
  }

  /** Adds a key after `ms`; at once where that is not positive. An earlier add of it stays, and is then the only one. */
  addAfter(key: string, ms: number, options: AddOptions = {}): void {
    const readyAtMs = ms > 0 ? this.#clock.monotonicMs() + ms : -Infinity;
    this.#wish(key, { priority: options.priority ?? 0, readyAtMs });
  }

  /** Adds a key that failed, after a wait that doubles with each failure until `forget`. Returns the wait in ms. */
  addRateLimited(key: string, options: AddOptions = {}): number {
    const waitMs = this.#retries.fail(key);
    this.#observer?.onRetry();
    this.addAfter(key, waitMs, options);
    return waitMs;
  }

  /** The key is well: its next failure counts as its first. */
  forget(key: string): void {
    this.#retries.forget(key);
  }

  /** Failures of a key since it was last forgotten. */
  failures(key: string): number {
    return this.#retries.of(key);
  }

  /** Resolves with the next key, which is the caller's until `done`; with `undefined` once shut down and empty. */
  take(): Promise<TakenKey | undefined> {
    const next = this.takeNow();
    if (next !== undefined || this.#shutDown) return Promise.resolve(next);
    return new Promise((resolve) => this.#takers.push(resolve));
  }

  /** The next key, which is the caller's until `done`; `undefined` where none is ready. */
  takeNow(): TakenKey | undefined {
    const next = this.#ready.take();
    const entry = next && this.#entries.get(next.key);
    if (next === undefined || entry === undefined) return undefined;
    const nowMs = this.#clock.monotonicMs();
    this.#observer?.onTake(nowMs - entry.readySinceMs);
    entry.wish = undefined;
    entry.takenAtMs = nowMs;
    this.#taken.add(entry);
    return next;
  }

  /** Gives a key back. It is queued again if it was added since it was taken. */
  done(key: string): void {
    const entry = this.#entries.get(key);
    if (entry?.takenAtMs === undefined) return;
    this.#observer?.onDone(this.#clock.monotonicMs() - entry.takenAtMs);
    entry.takenAtMs = undefined;
    this.#taken.delete(entry);
    if (entry.wish === undefined) this.#entries.delete(key);
    else this.#settle(key, entry);
    this.#checkIdle();
  }

  /** Resolves at the first moment when no key is queued or with a worker; delayed keys do not count. */
  idle(): Promise<void> {
    if (this.#ready.size + this.#taken.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  /**
   * Takes no more keys and forgets the delayed ones. With `drop`, the queued ones as well; else workers still get them.
   * Resolves when every key has been given back. May be called again.
   */
  shutDown(options: { readonly drop?: boolean } = {}): Promise<void> {
    this.#shutDown = true;
    this.#delayed.clear();
    if (options.drop === true) this.#ready.clear();
    for (const [key, entry] of this.#entries) {
      if (this.#ready.has(key)) continue;
      if (entry.takenAtMs === undefined) this.#entries.delete(key);
      else if (options.drop === true || isLater(entry.wish, this.#clock.monotonicMs()))
        entry.wish = undefined;
    }
    for (let taker = this.#takers.shift(); taker !== undefined; taker = this.#takers.shift())
      taker(undefined);
    this.#checkIdle();
    return this.idle();
  }

  #wish(key: string, wish: Wish): void {
    if (this.#shutDown) return;
    const present = this.#entries.get(key);
    const entry = present ?? { wish: undefined, readySinceMs: 0, takenAtMs: undefined };
    if (present === undefined) this.#entries.set(key, entry);
    const before = entry.wish;
    entry.wish = mergeWishes(before, wish);
    if (before === undefined) this.#observer?.onAdd();
    if (entry.wish !== before && entry.takenAtMs === undefined) this.#settle(key, entry);
  }

  /** Puts a key that nobody has where its wish belongs. */
  #settle(key: string, entry: Entry): void {
    const { wish } = entry;
    if (wish === undefined) return;
    const nowMs = this.#clock.monotonicMs();
    if (isLater(wish, nowMs)) {
      if (this.#shutDown) this.#entries.delete(key);
      else this.#delayed.set(key, wish.readyAtMs);
      return;
    }
    this.#delayed.delete(key);
    if (!this.#ready.has(key)) entry.readySinceMs = nowMs;
    this.#ready.put(key, wish.priority);
    const taker = this.#takers.shift();
    if (taker !== undefined) taker(this.takeNow());
  }

  #onDue(key: string): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#settle(key, entry);
  }

  #checkIdle(): void {
    if (this.#ready.size + this.#taken.size > 0) return;
    const waiters = this.#idleWaiters;
    this.#idleWaiters = [];
    for (const resolve of waiters) resolve();
  }
}

function isLater(wish: Wish | undefined, nowMs: number): boolean {
  return wish !== undefined && wish.readyAtMs > nowMs;
}
