import type { Clock } from "@meridian/runtime";

/** How long other work may have to wait. */
const sliceMs = 5;
/** Looking at the clock costs more than a step of most work. */
const stepsPerLook = 64;

/** Cuts long work into slices between which the thread answers others. */
export class WorkSlices {
  readonly #clock: Clock;
  #startedMs: number;
  #steps = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedMs = clock.monotonicMs();
  }

  /** To be awaited after a large step: a pause where the slice is over. */
  pause(): Promise<void> | undefined {
    return this.#clock.monotonicMs() - this.#startedMs < sliceMs ? undefined : this.#rest();
  }

  /** As `pause`, after a step of microseconds. */
  step(): Promise<void> | undefined {
    return ++this.#steps % stepsPerLook === 0 ? this.pause() : undefined;
  }

  async #rest(): Promise<void> {
    await this.#clock.sleep(0);
    this.#startedMs = this.#clock.monotonicMs();
  }
}
