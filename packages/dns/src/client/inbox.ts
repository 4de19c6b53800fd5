import type { Clock } from "@meridian/runtime";

/** Items that wait for their reader; beyond them, whoever repeats a reply for ever is not listened to. */
const itemsMax = 64;

/** Items that arrive one by one, for one reader who waits for the next with a limit. */
export class Inbox<Item> {
  readonly #clock: Clock;
  readonly #items: Item[] = [];
  #wake: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  push(item: Item): void {
    if (this.#items.length >= itemsMax) return;
    this.#items.push(item);
    this.#wake?.();
  }

  /** The next item, or `undefined` when none has come within `ms`. Rejects with the signal's reason when it aborts. */
  async next(ms: number, signal?: AbortSignal): Promise<Item | undefined> {
    signal?.throwIfAborted();
    if (this.#items.length === 0 && ms > 0) {
      await new Promise<void>((resolve, reject) => {
        const finish = (settle: () => void): void => {
          cancel();
          signal?.removeEventListener("abort", onAbort);
          this.#wake = undefined;
          settle();
        };
        const cancel = this.#clock.after(ms, () => finish(resolve));
        const onAbort = (): void => finish(() => reject(signal?.reason));
        signal?.addEventListener("abort", onAbort, { once: true });
        this.#wake = () => finish(resolve);
      });
    }
    return this.#items.shift();
  }
}
