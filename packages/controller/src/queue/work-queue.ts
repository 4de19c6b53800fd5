import type { Runtime } from "@meridian/runtime";

/** Options of a work queue. */
export interface WorkQueueOptions {
  /** Wait after the first failure of a key; doubles with each. Default 5. */
  readonly firstRetryMs?: number;
  /** Longest wait after a failure. Default 1,000,000. */
  readonly retryMsMax?: number;
}

/** Keys to work on: each is handed out to one worker at a time, and adds collapse. */
export class WorkQueue {
  constructor(_runtime: Pick<Runtime, "clock">, _options: WorkQueueOptions = {}) {}
  add(_key: string): void {}
  addAfter(_key: string, _ms: number): void {}
  /** Adds after a wait that doubles with each call, until `forget`. Returns the wait in ms. */
  addRateLimited(_key: string): number {
    return 0;
  }
  forget(_key: string): void {}
  failures(_key: string): number {
    return 0;
  }
  /** The next key, or `undefined` when the queue is shut down and empty. */
  async take(): Promise<string | undefined> {
    return undefined;
  }
  done(_key: string): void {}
  async shutDown(): Promise<void> {}
}
