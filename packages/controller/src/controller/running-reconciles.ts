import type { Clock } from "@meridian/runtime";
import { ControllerError } from "../controller-error.ts";
import type { TakenKey } from "../queue/work-queue.ts";

/** A reconcile that is under way. */
export interface RunningReconcile {
  readonly taken: TakenKey;
  /** By the monotonic clock. */
  readonly startedMs: number;
  /** To make its signal takes Node 20 3 µs, a third of an empty reconcile, and later ones next to nothing. */
  readonly stopping: AbortController;
  /** Ends the wait of its worker. */
  readonly release: () => void;
}

/** When a reconcile has lasted too long, and who hears of it. */
export interface ReconcileDeadline {
  /** Then its signal aborts. */
  readonly deadlineMs: number;
  /** So long after that it is left to itself. */
  readonly graceMs: number;
  readonly onIgnored: (running: RunningReconcile) => void;
}

/** The reconciles that are under way. All have equally long, so who began first is due first: one timer is enough. */
export class RunningReconciles {
  readonly #clock: Pick<Clock, "monotonicMs" | "after">;
  readonly #deadline: ReconcileDeadline;
  /** In the order in which they began. */
  readonly #inTime = new Map<string, RunningReconcile>();
  /** Whose deadline has passed, and how not to leave it to itself after all. */
  readonly #late = new Map<string, { readonly running: RunningReconcile; readonly cancel: () => void }>();
  #cancelTimer: (() => void) | undefined;

  constructor(clock: Pick<Clock, "monotonicMs" | "after">, deadline: ReconcileDeadline) {
    this.#clock = clock;
    this.#deadline = deadline;
  }

  get keys(): readonly string[] {
    return [...this.#late.keys(), ...this.#inTime.keys()];
  }

  /** Takes note of one that begins now. */
  begin(running: RunningReconcile): void {
    this.#inTime.set(running.taken.key, running);
    this.#cancelTimer ??= this.#clock.after(this.#deadline.deadlineMs, () => this.#passDeadlines());
  }

  /** It has ended, in whichever way. */
  end(key: string): void {
    if (this.#inTime.delete(key)) return;
    this.#late.get(key)?.cancel();
    this.#late.delete(key);
  }

  /** Tells all to end. */
  abort(reason: unknown): void {
    for (const { stopping } of this.#inTime.values()) stopping.abort(reason);
  }

  /** Nothing begins any more, and whoever does not end is not watched any more. */
  close(): void {
    this.#cancelTimer?.();
    for (const { cancel } of this.#late.values()) cancel();
  }

  #passDeadlines(): void {
    const { deadlineMs, graceMs, onIgnored } = this.#deadline;
    this.#cancelTimer = undefined;
    for (const [key, running] of this.#inTime) {
      const restMs = running.startedMs + deadlineMs - this.#clock.monotonicMs();
      if (restMs > 0) {
        this.#cancelTimer = this.#clock.after(restMs, () => this.#passDeadlines());
        return;
      }
      this.#inTime.delete(key);
      this.#late.set(key, { running, cancel: this.#clock.after(graceMs, () => onIgnored(running)) });
      const message = `reconcile of ${key} takes longer than ${deadlineMs} ms`;
      running.stopping.abort(new ControllerError("DeadlineExceeded", message));
    }
  }
}
