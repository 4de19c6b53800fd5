import type { Clock } from "@meridian/runtime";

/** What made a Gslb's answers change: endpoints of this cluster, or what a peer says. */
export type ConvergenceCause = "endpoints" | "peer";

/** How many causes are kept at once; beyond them some changes are not timed. */
const pendingMax = 20_000;

/**
 * Times how long it takes from a change that this cluster sees to the answer of its DNS server. Of several changes before the
 * answer the first counts. One that changes no answer is not counted.
 */
export class ConvergenceTimer {
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #begun = new Map<
    string,
    { readonly cause: ConvergenceCause; readonly atMs: number; isWritten: boolean }
  >();
  #listener: (cause: ConvergenceCause, seconds: number) => void = () => {};

  constructor(clock: Pick<Clock, "monotonicMs">) {
    this.#clock = clock;
  }

  /** Who is told of each time taken. */
  set listener(listener: (cause: ConvergenceCause, seconds: number) => void) {
    this.#listener = listener;
  }

  /** Something changed that a Gslb depends on. */
  begin(key: string, cause: ConvergenceCause): void {
    if (this.#begun.has(key) || this.#begun.size >= pendingMax) return;
    this.#begun.set(key, { cause, atMs: this.#clock.monotonicMs(), isWritten: false });
  }

  /** It was looked at: other records are wanted now, or the same as before. */
  decided(key: string, isChanged: boolean): void {
    const begun = this.#begun.get(key);
    if (begun === undefined) return;
    if (isChanged) begun.isWritten = true;
    else if (!begun.isWritten) this.#begun.delete(key);
  }

  /** The DNS server answers from an object as it now is. */
  served(key: string): void {
    const begun = this.#begun.get(key);
    if (begun === undefined || !begun.isWritten) return;
    this.#begun.delete(key);
    this.#listener(begun.cause, (this.#clock.monotonicMs() - begun.atMs) / 1000);
  }

  /** It is gone. */
  forget(key: string): void {
    this.#begun.delete(key);
  }
}
