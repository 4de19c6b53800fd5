import type { Clock } from "@meridian/runtime";

/** An abort signal with an end; dispose it when the work is over, so that neither timer nor listener stays. */
export interface DeadlineSignal extends Disposable {
  readonly signal: AbortSignal;
  /** Aborts at once with this reason. */
  abort(reason: unknown): void;
}

/** What ends the work before it is done. */
export interface DeadlineOptions {
  /** The caller's signal, whose reason is passed on. */
  readonly signal: AbortSignal | undefined;
  /** Absent: no deadline. */
  readonly ms?: number;
  /** Made when the deadline passes. */
  readonly reason?: () => Error;
}

/** A signal that aborts with the caller's signal, after `ms`, or on request; whichever comes first. */
export function deadlineSignal(clock: Pick<Clock, "after">, options: DeadlineOptions): DeadlineSignal {
  const controller = new AbortController();
  const parent = options.signal;
  const onParentAbort = (): void => end(parent?.reason);
  let cancelTimer: (() => void) | undefined;

  const detach = (): void => {
    cancelTimer?.();
    cancelTimer = undefined;
    parent?.removeEventListener("abort", onParentAbort);
  };
  const end = (reason: unknown): void => {
    detach();
    controller.abort(reason);
  };

  if (parent?.aborted === true) {
    controller.abort(parent.reason);
  } else {
    parent?.addEventListener("abort", onParentAbort, { once: true });
    if (options.ms !== undefined) {
      cancelTimer = clock.after(options.ms, () =>
        end(options.reason?.() ?? new Error("the deadline has passed")),
      );
    }
  }
  return { signal: controller.signal, abort: end, [Symbol.dispose]: detach };
}
