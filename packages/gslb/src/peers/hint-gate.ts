import type { Clock } from "@meridian/runtime";

const intervalMs = 1000;
/** Of hints that are proved to come from a cluster of the fleet, which floods nobody. */
const provedIntervalMs = 100;

/**
 * Lets the first of a burst of hints through at once, and then one per second, or ten where they are proved to be meant, for
 * all that came since: whatever is hinted is looked at, and a flood costs one check a second.
 */
export class HintGate {
  readonly #clock: Clock;
  readonly #act: () => void;
  #lastMs = Number.NEGATIVE_INFINITY;
  #due: { readonly atMs: number; readonly cancel: () => void } | undefined;
  #isClosed = false;

  constructor(clock: Clock, act: () => void) {
    this.#clock = clock;
    this.#act = act;
  }

  open({ isProved = false }: { readonly isProved?: boolean } = {}): void {
    const atMs = this.#lastMs + (isProved ? provedIntervalMs : intervalMs);
    if (this.#isClosed || (this.#due !== undefined && this.#due.atMs <= atMs)) return;
    this.#due?.cancel();
    const wait = atMs - this.#clock.monotonicMs();
    if (wait <= 0) this.#fire();
    else this.#due = { atMs, cancel: this.#clock.after(wait, () => this.#fire()) };
  }

  close(): void {
    this.#isClosed = true;
    this.#due?.cancel();
  }

  #fire(): void {
    this.#due = undefined;
    this.#lastMs = this.#clock.monotonicMs();
    this.#act();
  }
}
