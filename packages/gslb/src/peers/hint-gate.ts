import type { Clock } from "@meridian/runtime";

const intervalMs = 1000;

/**
 * Lets the first of a burst of hints through at once, and then one per second for all that came since: whatever is
 * hinted is looked at, and a flood costs one check a second.
 */
export class HintGate {
  readonly #clock: Clock;
  readonly #act: () => void;
  #lastMs = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, act: () => void) {
    this.#clock = clock;
    this.#act = act;
  }

  open(): void {
    if (this.#cancel !== undefined) return;
    const wait = this.#lastMs + intervalMs - this.#clock.monotonicMs();
    if (wait <= 0) this.#fire();
    else this.#cancel = this.#clock.after(wait, () => this.#fire());
  }

  close(): void {
    this.#cancel?.();
    this.#cancel = () => {};
  }

  #fire(): void {
    this.#cancel = undefined;
    this.#lastMs = this.#clock.monotonicMs();
    this.#act();
  }
}
