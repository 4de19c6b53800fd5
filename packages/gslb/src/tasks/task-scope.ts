import type { Logger } from "@meridian/runtime";

/**
 * Owns background work, so that no promise floats: `start` takes a task, `close` aborts all of them and resolves when
 * the last has ended. A failure is logged, once, and ends only its own task.
 */
export class TaskScope {
  readonly #abort = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Runs a task until it ends or the scope is closed; after the close it does nothing. */
  start(name: string, task: (signal: AbortSignal) => Promise<void>): void {
    if (this.signal.aborted) return;
    const run = async (): Promise<void> => {
      try {
        await task(this.signal);
      } catch (error) {
        if (!this.signal.aborted) this.#log.error("a background task failed", { task: name, error });
      }
    };
    const running: Promise<void> = run().finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async close(reason: unknown = new Error("closed")): Promise<void> {
    this.#abort.abort(reason);
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
