/** Lets one loop wait for work. A wake before the wait is not lost; many wakes are one. */
export class Wakeup {
  #pending = false;
  #resolve: (() => void) | undefined;

  wake(): void {
    this.#pending = true;
    this.#resolve?.();
  }

  /** Resolves at the next wake, or at once if there was one since the last wait; also when the signal aborts. */
  async wait(signal: AbortSignal): Promise<void> {
    if (!this.#pending && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#resolve = resolve;
        signal.addEventListener("abort", () => resolve(), { once: true, signal: this.#waiting(resolve) });
      });
    }
    this.#pending = false;
    this.#resolve = undefined;
  }

  /** Takes the abort listener away once the wait is over, so that a long-lived signal gathers none. */
  #waiting(resolve: () => void): AbortSignal {
    const over = new AbortController();
    this.#resolve = () => {
      over.abort();
      resolve();
    };
    return over.signal;
  }
}
