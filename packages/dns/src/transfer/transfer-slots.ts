/** Lets one transfer run per peer and zone and a few in all; the others wait their turn, in order. */
export class TransferSlots {
  readonly #max: number;
  readonly #waitingMax: number;
  readonly #running = new Set<string>();
  #waiting: { readonly key: string; readonly start: () => void }[] = [];

  constructor(options: { readonly max: number; readonly waitingMax: number }) {
    this.#max = options.max;
    this.#waitingMax = options.waitingMax;
  }

  /**
   * Waits for a turn; the function resolved with gives it up and may be called again. `undefined` when too many wait
   * already. Rejects with the signal's reason.
   */
  async acquire(key: string, signal: AbortSignal): Promise<(() => void) | undefined> {
    signal.throwIfAborted();
    if (!this.#mayStart(key)) {
      if (this.#waiting.length >= this.#waitingMax) return undefined;
      await new Promise<void>((resolve, reject) => {
        const entry = {
          key,
          start: (): void => {
            signal.removeEventListener("abort", onAbort);
            resolve();
          },
        };
        const onAbort = (): void => {
          this.#waiting = this.#waiting.filter((other) => other !== entry);
          reject(signal.reason);
        };
        signal.addEventListener("abort", onAbort, { once: true });
        this.#waiting.push(entry);
      });
    } else {
      this.#running.add(key);
    }
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#running.delete(key);
      this.#startNext();
    };
  }

  #mayStart(key: string): boolean {
    return this.#running.size < this.#max && !this.#running.has(key);
  }

  #startNext(): void {
    const index = this.#waiting.findIndex(({ key }) => this.#mayStart(key));
    if (index < 0) return;
    const [next] = this.#waiting.splice(index, 1);
    // Taken here and not by the waiter, who runs later.
    this.#running.add(next!.key);
    next!.start();
  }
}
