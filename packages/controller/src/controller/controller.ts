import type { Runtime } from "@meridian/runtime";

/** What a reconcile returns: nothing more to do until something changes, or look again after a while. */
export type ReconcileResult = void | undefined | { readonly after?: number };

/** Brings the world of one key to what it should be. Reads the present; never learns which event woke it. */
export type Reconcile = (key: string, signal: AbortSignal) => Promise<ReconcileResult>;

/** Options of a controller. */
export interface ControllerOptions {
  readonly name: string;
  readonly reconcile: Reconcile;
  /** Keys that are worked on at once. Default 1. */
  readonly concurrency?: number;
  readonly firstRetryMs?: number;
  readonly retryMsMax?: number;
}

/** Runs a reconcile over a work queue. */
export class Controller {
  readonly name: string;
  constructor(_runtime: Pick<Runtime, "clock" | "log">, options: ControllerOptions) {
    this.name = options.name;
  }
  enqueue(_key: string): void {}
  enqueueAfter(_key: string, _ms: number): void {}
  /** Works until the signal aborts; resolves when the running reconciles have ended. */
  async run(_signal: AbortSignal): Promise<void> {}
  /** Resolves at the next moment when no key is queued or running (delayed keys do not count). */
  async idle(): Promise<void> {}
}
