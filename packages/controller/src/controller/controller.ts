import type { Clock, Logger } from "@meridian/runtime";
import { ControllerError } from "../controller-error.ts";
import { deadlineSignal } from "../deadline-signal.ts";
import { WorkQueue } from "../queue/work-queue.ts";
import type { WorkQueueOptions } from "../queue/work-queue.ts";

/** What a reconcile returns: nothing more to do until something changes, or look again after so many milliseconds. */
// oxlint-disable-next-line typescript/no-invalid-void-type -- a reconcile without a `return` is the usual one
export type ReconcileResult = void | { readonly after?: number };

/**
 * Brings the world of one key to what it should be. It reads the present and never learns which event woke it, so lost,
 * merged and repeated events are harmless. The signal aborts when the controller stops or the deadline has passed.
 */
export type Reconcile = (key: string, signal: AbortSignal) => Promise<ReconcileResult>;

/** How a controller works. */
export interface ControllerOptions extends WorkQueueOptions {
  /** For logs. */
  readonly name: string;
  readonly reconcile: Reconcile;
  /** Keys that are worked on at once; one key never is. Default 1. */
  readonly concurrency?: number;
  /** Aborts the signal of a reconcile that takes longer. Default: never. */
  readonly deadlineMs?: number;
}

/** What a controller has done so far. */
export interface ControllerCounts {
  readonly succeeded: number;
  readonly failed: number;
  readonly running: number;
  readonly queued: number;
  readonly delayed: number;
}

/**
 * Runs a reconcile for each key that is enqueued. A reconcile that throws is logged once and run again after a wait that
 * doubles each time (5 ms to 1000 s by default); one that returns `after` is run again after that.
 */
export class Controller {
  readonly name: string;
  readonly #clock: Pick<Clock, "monotonicMs" | "after">;
  readonly #log: Logger;
  readonly #options: ControllerOptions;
  readonly #queue: WorkQueue;
  #started = false;
  #succeeded = 0;
  #failed = 0;

  constructor(
    runtime: { readonly clock: Pick<Clock, "monotonicMs" | "after">; readonly log: Logger },
    options: ControllerOptions,
  ) {
    this.name = options.name;
    this.#clock = runtime.clock;
    this.#log = runtime.log.child({ controller: options.name });
    this.#options = options;
    this.#queue = new WorkQueue(runtime, options);
  }

  /** Asks for a run of this key. Any number of calls before that run begins are one. */
  enqueue(key: string): void {
    this.#queue.add(key);
  }

  /** Asks for a run after `ms`; an earlier one that is already asked for stays. */
  enqueueAfter(key: string, ms: number): void {
    this.#queue.addAfter(key, ms);
  }

  /** Resolves at the first moment when no key is queued or being worked on; delayed keys do not count. */
  idle(): Promise<void> {
    return this.#queue.idle();
  }

  get counts(): ControllerCounts {
    return {
      succeeded: this.#succeeded,
      failed: this.#failed,
      running: this.#queue.running,
      queued: this.#queue.length,
      delayed: this.#queue.delayed,
    };
  }

  /**
   * Works until the signal aborts, and resolves when the reconciles that were running have ended. Queued keys are dropped:
   * whoever starts next recounts the present. A controller runs once.
   *
   * @throws ControllerError `AlreadyRunning`
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#started)
      throw new ControllerError("AlreadyRunning", `controller ${this.name} runs once; make a new one`);
    this.#started = true;
    const stop = (): void => void this.#queue.shutDown({ drop: true });
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    const workers = Array.from({ length: Math.max(1, this.#options.concurrency ?? 1) }, () =>
      this.#work(signal),
    );
    await Promise.all(workers);
    signal.removeEventListener("abort", stop);
  }

  async #work(signal: AbortSignal): Promise<void> {
    for (;;) {
      const key = await this.#queue.take();
      if (key === undefined) return;
      await this.#reconcile(key, signal);
      this.#queue.done(key);
    }
  }

  /** Never throws: what goes wrong with one key is that key's affair. */
  async #reconcile(key: string, signal: AbortSignal): Promise<void> {
    const { deadlineMs } = this.#options;
    using bounds = deadlineSignal(this.#clock, {
      signal,
      ...(deadlineMs === undefined ? {} : { ms: deadlineMs }),
      reason: () =>
        new ControllerError("DeadlineExceeded", `reconcile of ${key} takes longer than ${deadlineMs} ms`),
    });
    try {
      const result = await this.#options.reconcile(key, bounds.signal);
      this.#succeeded++;
      this.#queue.forget(key);
      if (result?.after !== undefined) this.#queue.addAfter(key, result.after);
    } catch (error) {
      if (signal.aborted) return;
      this.#failed++;
      const retryMs = this.#queue.addRateLimited(key);
      this.#log.warn("reconcile failed", { object: key, attempt: this.#queue.failures(key), retryMs, error });
    }
  }
}
