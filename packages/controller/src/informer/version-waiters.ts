/** Those who wait until something has come far enough. */
export class VersionWaiters {
  readonly #waiters = new Set<{ readonly version: string; readonly resolve: () => void }>();
  readonly #isReached: (version: string) => boolean;

  constructor(isReached: (version: string) => boolean) {
    this.#isReached = isReached;
  }

  /** Resolves when the version is reached. @throws the signal's reason */
  async wait(version: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#isReached(version)) return;
    await new Promise<void>((resolve, reject) => {
      const end = (): void => {
        this.#waiters.delete(waiter);
        signal.removeEventListener("abort", onAbort);
      };
      const onAbort = (): void => {
        end();
        reject(signal.reason);
      };
      const waiter = {
        version,
        resolve: () => {
          end();
          resolve();
        },
      };
      this.#waiters.add(waiter);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** Something has come further. */
  check(): void {
    for (const waiter of this.#waiters) if (this.#isReached(waiter.version)) waiter.resolve();
  }
}
