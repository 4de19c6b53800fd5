/** Wakes one waiter. Rings are not counted: one that nobody waits for wakes the next wait at once. */
export class Doorbell {
  #rung = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#rung = true;
    this.#wake?.();
    this.#wake = undefined;
  }

  /** Resolves at the next ring, or at once if it rang since the last wait. */
  async wait(): Promise<void> {
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#rung = false;
  }
}
