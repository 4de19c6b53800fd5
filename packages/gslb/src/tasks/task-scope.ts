import { setMaxListeners } from "node:events";
import type { Logger } from "@meridian/runtime";

/**
 * Owns background work, so that no promise floats: `start` takes a task, `close` aborts all of them and resolves when
 * the last has ended. A failure is logged, once, and ends only its own task.
 *
 * A child's tasks can be aborted apart; they still count as the parent's, whose close waits for them too.
 */
export class TaskScope {
  readonly #abort = new AbortController();
  readonly #log: Logger;
  readonly #parent: TaskScope | undefined;
  readonly #children = new Set<TaskScope>();
  readonly #running: Set<Promise<void>>;

  constructor(log: Logger, parent?: TaskScope) {
    this.#log = log;
    this.#parent = parent;
    this.#running = parent === undefined ? new Set() : parent.#running;
    // One listener per waiting task is what it is for, not a leak to warn of.
    setMaxListeners(0, this.signal);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** A scope that ends with this one, or before it by its own `abort`. */
  child(): TaskScope {
    const child = new TaskScope(this.#log, this);
    if (this.signal.aborted) child.abort(this.signal.reason);
    else this.#children.add(child);
    return child;
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

  /** Tells the tasks of this scope and of its children to end. */
  abort(reason: unknown): void {
    if (this.#parent !== undefined) this.#parent.#children.delete(this);
    for (const child of this.#children) child.abort(reason);
    this.#abort.abort(reason);
  }

  /** Aborts, and resolves when every task has ended. Only for a scope without parent. */
  async close(reason: unknown = new Error("closed")): Promise<void> {
    this.abort(reason);
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
