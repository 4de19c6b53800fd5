import type { Clock, Logger } from "@meridian/runtime";
import { ControllerError } from "../controller-error.ts";
import { deadlineSignal } from "../deadline-signal.ts";
import type { EventRecorder } from "../events/event-recorder.ts";
import type { HandlerRegistration } from "../informer/informer-handler.ts";
import type { RetryOptions } from "../queue/retry-delays.ts";
import { WorkQueue } from "../queue/work-queue.ts";
import type { AddOptions, TakenKey, WorkQueueMeter } from "../queue/work-queue.ts";
import { errorText, isTerminal } from "./reconcile-error.ts";
import { RunningReconciles } from "./running-reconciles.ts";
import type { RunningReconcile } from "./running-reconciles.ts";
import type { Source } from "./source.ts";

/** What a reconcile returns: nothing more to do until something changes, or look again after so many milliseconds. */
// oxlint-disable-next-line typescript/no-invalid-void-type -- a reconcile without a `return` is the usual one
export type ReconcileResult = void | { readonly requeueAfterMs?: number };

/**
 * Brings the world of one key to what it should be. It reads the present and never learns which event woke it, so lost,
 * merged and repeated events are harmless. The signal aborts when the controller stops or the deadline has passed.
 */
export type Reconcile = (key: string, signal: AbortSignal) => Promise<ReconcileResult>;

/**
 * How a controller works. Waits after failures are those of the key alone (5 ms to 1000 s), as controller-runtime has them;
 * `retryRate` bounds all retries together.
 */
export interface ControllerOptions extends RetryOptions {
  /** For logs, metrics and people. */
  readonly name: string;
  readonly reconcile: Reconcile;
  /** What wakes it, beside `enqueue`. Default: nothing. */
  readonly sources?: readonly Source[];
  /** Keys that are worked on at once; one key never is. Default 1. */
  readonly concurrency?: number;
  /** How long the copies of the sources may take to be complete. Default 120,000. */
  readonly syncMs?: number;
  /** Aborts the signal of a reconcile that takes longer. Default 600,000. */
  readonly deadlineMs?: number;
  /** What becomes of queued keys at a stop: dropped, since whoever starts next recounts, or worked off. Default `drop`. */
  readonly onStop?: "drop" | "drain";
  /** How long a stop waits for what is running. Default 30,000. */
  readonly stopMs?: number;
  /** Tells about failures on the objects themselves, where there is a source of `watchObjects`. */
  readonly events?: Pick<EventRecorder, "record">;
  readonly meter?: ControllerMeter;
}

/** Where controllers report to, for metrics: a `ControllerMetrics`. */
export interface ControllerMeter {
  readonly queues: WorkQueueMeter;
  /** Called once for each controller, which can be read at any time. */
  observe(controller: Pick<Controller, "name" | "concurrency" | "counts">): ControllerObserver;
}

/** Told of what happens in one controller. */
export interface ControllerObserver {
  onReconcile(run: ReconcileRun): void;
}

/** How a reconcile ended. `thrown`: it failed with what is no error, or before it gave a promise. */
export interface ReconcileRun {
  readonly result: "success" | "requeue_after" | "error" | "terminal_error" | "timeout";
  readonly thrown: boolean;
  readonly ms: number;
}

/** What a controller has done so far. */
export interface ControllerCounts {
  readonly succeeded: number;
  readonly failed: number;
  readonly running: number;
  readonly queued: number;
  readonly delayed: number;
  /** Reconciles that have not ended although their deadline has passed; included in `running`. */
  readonly stuck: number;
}

/** A reconcile that does not end so long after its signal has aborted is left to itself. */
const graceMs = 5_000;

/**
 * Runs a reconcile for each key that its sources or `enqueue` name. One that throws is reported and run again after a wait
 * that doubles each time (5 ms to 1000 s by default); one that returns `requeueAfterMs` is run again after that.
 *
 * Whatever a reconcile does, the others go on: also where it throws at once, rejects with nothing or never ends. One that
 * ignores its aborted signal keeps its key, so that a key is never worked on twice at once, but not its worker.
 */
export class Controller {
  readonly name: string;
  readonly concurrency: number;
  readonly sources: readonly Source[];
  readonly #clock: Pick<Clock, "monotonicMs" | "after" | "sleep">;
  readonly #log: Logger;
  readonly #options: ControllerOptions;
  readonly #queue: WorkQueue;
  readonly #observer: ControllerObserver | undefined;
  readonly #running: RunningReconciles;
  readonly #stuck = new Set<string>();
  #started = false;
  #hasSynced = false;
  /** Set when running reconciles are told to end; then they fail for that reason. */
  #ending: { readonly reason: unknown } | undefined;
  #succeeded = 0;
  #failed = 0;

  constructor(
    runtime: { readonly clock: Pick<Clock, "monotonicMs" | "after" | "sleep">; readonly log: Logger },
    options: ControllerOptions,
  ) {
    this.name = options.name;
    this.concurrency = Math.max(1, options.concurrency ?? 1);
    this.sources = options.sources ?? [];
    this.#clock = runtime.clock;
    this.#log = runtime.log.child({ controller: options.name });
    this.#options = options;
    const { name, firstRetryMs = 5, retryMsMax = 1_000_000, retryRate = "unlimited", meter } = options;
    this.#queue = new WorkQueue(runtime, {
      ...{ name, firstRetryMs, retryMsMax, retryRate },
      ...(meter === undefined ? {} : { meter: meter.queues }),
    });
    this.#observer = meter?.observe(this);
    const { deadlineMs = 600_000 } = options;
    const onIgnored = (running: RunningReconcile): void => this.#leave(running);
    this.#running = new RunningReconciles(runtime.clock, { deadlineMs, graceMs, onIgnored });
  }

  /** Asks for a run of this key. Any number of calls before that run begins are one. */
  enqueue(key: string, options: AddOptions = {}): void {
    this.#queue.add(key, options);
  }

  /** Asks for a run after `ms`; an earlier one that is already asked for stays, and is then the only one. */
  enqueueAfter(key: string, ms: number, options: AddOptions = {}): void {
    this.#queue.addAfter(key, ms, options);
  }

  /** Resolves at the first moment when no key is queued or being worked on; delayed keys do not count. */
  idle(): Promise<void> {
    return this.#queue.idle();
  }

  /** Whether it has seen everything that its sources had at the start, and works. */
  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  get counts(): ControllerCounts {
    return {
      succeeded: this.#succeeded,
      failed: this.#failed,
      running: this.#queue.running,
      queued: this.#queue.length,
      delayed: this.#queue.delayed,
      stuck: this.#stuck.size,
    };
  }

  /**
   * Waits until the copies of its sources are complete, works until the signal aborts, and resolves when the reconciles that
   * were running have ended. The informers are run by somebody else. A controller runs once.
   *
   * @throws ControllerError `AlreadyRunning`; `DeadlineExceeded` where copies are not complete within `syncMs`, or
   *   reconciles have not ended within `stopMs`
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#started)
      throw new ControllerError("AlreadyRunning", `controller ${this.name} runs once; make a new one`);
    this.#started = true;
    const registrations: HandlerRegistration[] = [];
    try {
      for (const source of this.sources) registrations.push(source.attach(this));
      await this.#sync(registrations, signal);
      this.#hasSynced = !signal.aborted;
      const workers = this.#hasSynced ? Array.from({ length: this.concurrency }, () => this.#work()) : [];
      await Promise.race([untilAborted(signal), Promise.all(workers)]);
      await this.#stop(signal);
    } finally {
      for (const registration of registrations) registration.remove();
      void this.#queue.shutDown({ drop: true });
      this.#running.close();
    }
  }

  async #sync(registrations: readonly HandlerRegistration[], signal: AbortSignal): Promise<void> {
    const { syncMs = 120_000 } = this.#options;
    using bounds = deadlineSignal(this.#clock, {
      signal,
      ms: syncMs,
      reason: () => {
        const behind = this.sources.filter((_, index) => registrations[index]?.hasSynced === false);
        const plurals = [...new Set(behind.map(({ informer }) => informer.type.plural))].join(", ");
        const message = `controller ${this.name} has no complete copy of ${plurals} after ${syncMs} ms: does its informer run, and may it list them?`;
        return new ControllerError("DeadlineExceeded", message);
      },
    });
    await Promise.race([untilAborted(bounds.signal), Promise.all(registrations.map(({ synced }) => synced))]);
    if (bounds.signal.aborted && !signal.aborted) throw bounds.signal.reason;
  }

  /** Never rejects. */
  async #work(): Promise<void> {
    for (;;) {
      const taken = this.#queue.takeNow() ?? (await this.#queue.take());
      if (taken === undefined) return;
      await this.#run(taken);
    }
  }

  /** Runs one reconcile, and gives the key back when it has ended. Resolves then, or when it is left to itself. */
  #run(taken: TakenKey): Promise<void> {
    return new Promise((release, reject) => {
      const running = {
        taken,
        startedMs: this.#clock.monotonicMs(),
        stopping: new AbortController(),
        release,
      };
      if (this.#ending !== undefined) running.stopping.abort(this.#ending.reason);
      this.#running.begin(running);
      this.#reconcile(running).then(release, reject);
    });
  }

  /** Never rejects: what goes wrong with one key is that key's affair. */
  async #reconcile({ taken, startedMs, stopping }: RunningReconcile): Promise<void> {
    const { key, priority } = taken;
    let reconciling: Promise<ReconcileResult> | undefined;
    try {
      reconciling = this.#options.reconcile(key, stopping.signal);
      const result = await reconciling;
      if (this.#stuck.has(key)) return;
      this.#succeeded++;
      this.#queue.forget(key);
      const afterMs = result?.requeueAfterMs;
      if (afterMs !== undefined) this.#queue.addAfter(key, afterMs, { priority });
      const ms = this.#clock.monotonicMs() - startedMs;
      this.#tellObserver({
        result: afterMs === undefined ? "success" : "requeue_after",
        thrown: false,
        ms,
      });
    } catch (error) {
      if (this.#stuck.has(key) || this.#ending !== undefined) return;
      const thrown = reconciling === undefined || !(error instanceof Error);
      this.#tell(taken, { error, startedMs, thrown });
    } finally {
      this.#running.end(key);
      this.#stuck.delete(key);
      this.#queue.done(key);
    }
  }

  /** Its worker goes on; its key stays taken. */
  #leave({ taken, startedMs, stopping, release }: RunningReconcile): void {
    this.#stuck.add(taken.key);
    this.#tell(taken, { error: stopping.signal.reason as unknown, startedMs, thrown: false });
    release();
  }

  /** Reports a failure once, and has the key tried again unless that is no use. */
  #tell(
    { key, priority }: TakenKey,
    {
      error,
      startedMs,
      thrown,
    }: { readonly error: unknown; readonly startedMs: number; readonly thrown: boolean },
  ): void {
    this.#failed++;
    const isStuck = this.#stuck.has(key);
    const terminal = !isStuck && isTerminal(error);
    const about = {
      object: key,
      attempt: this.#queue.failures(key) + 1,
      error: error ?? "rejected with nothing",
    };
    if (terminal) {
      this.#queue.forget(key);
      this.#log.error("reconcile failed for good", about);
    } else {
      const retryMs = this.#queue.addRateLimited(key, { priority });
      if (isStuck) this.#log.error("reconcile ignores its deadline, and is left to itself", about);
      else this.#log.warn("reconcile failed", { ...about, retryMs });
    }
    const ms = this.#clock.monotonicMs() - startedMs;
    const result = terminal ? "terminal_error" : isDeadline(error) ? "timeout" : "error";
    this.#tellObserver({ result, thrown, ms });
    this.#record(key, error);
  }

  /** A meter that fails costs its figure and nothing else. */
  #tellObserver(run: ReconcileRun): void {
    try {
      this.#observer?.onReconcile(run);
    } catch (error) {
      this.#log.warn("a reconcile is not metered", { error });
    }
  }

  /** Tells the failure on the object itself; where that fails as well, the log has both. */
  #record(key: string, error: unknown): void {
    const { events } = this.#options;
    if (events === undefined) return;
    try {
      const source = this.sources.find((each) => each.objectOf !== undefined);
      const object = source?.objectOf?.(key);
      if (object === undefined) return;
      const message = `${this.name}: ${errorText(error)}`;
      events.record(object, { type: "Warning", reason: "ReconcileFailed", action: "Reconcile", message });
    } catch (failure) {
      this.#log.warn("a failure is not told on its object", { object: key, error: failure });
    }
  }

  async #stop({ reason }: AbortSignal): Promise<void> {
    const { stopMs = 30_000, onStop = "drop" } = this.#options;
    const drops = onStop === "drop";
    if (drops) this.#abort(reason);
    const ended = this.#queue.shutDown({ drop: drops });
    if (await this.#endsWithin(ended, stopMs)) return;
    if (!drops) {
      this.#abort(reason);
      void this.#queue.shutDown({ drop: true });
      if (await this.#endsWithin(ended, graceMs)) return;
    }
    const { keys } = this.#running;
    const message = `controller ${this.name}: ${keys.length} reconciles have not ended ${stopMs} ms after the stop: ${keys.slice(0, 5).join(", ")}`;
    throw new ControllerError("DeadlineExceeded", message);
  }

  #abort(reason: unknown): void {
    this.#ending = { reason };
    this.#running.abort(reason);
  }

  async #endsWithin(ended: Promise<void>, ms: number): Promise<boolean> {
    let cancel = (): void => {};
    const late = new Promise<boolean>((resolve) => (cancel = this.#clock.after(ms, () => resolve(false))));
    try {
      return await Promise.race([ended.then(() => true), late]);
    } finally {
      cancel();
    }
  }
}

function isDeadline(error: unknown): boolean {
  return error instanceof ControllerError && error.code === "DeadlineExceeded";
}

/** Resolves when the signal has aborted. */
function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
