import { setMaxListeners } from "node:events";

/**
 * A signal that aborts with another one, or before it by `end`. Dispose of it: unlike `AbortSignal.any` it leaves nothing
 * behind on a signal that lives as long as the process.
 */
export class Ending implements Disposable {
  readonly #abort = new AbortController();
  readonly #outer: AbortSignal;
  readonly #follow = (): void => this.#abort.abort(this.#outer.reason);

  constructor(outer: AbortSignal) {
    this.#outer = outer;
    // One listener per host that waits for its turn is what it is for, not a leak to warn of.
    setMaxListeners(0, this.signal);
    if (outer.aborted) this.#follow();
    else outer.addEventListener("abort", this.#follow, { once: true });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Aborts now; the first reason stands. */
  end(reason: unknown = new Error("it is over")): void {
    this.#outer.removeEventListener("abort", this.#follow);
    this.#abort.abort(reason);
  }

  [Symbol.dispose](): void {
    this.end();
  }
}
