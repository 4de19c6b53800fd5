import type { Clock } from "@meridian/runtime";

/** A clock that a test moves by hand, for stores whose disk is real. */
export class SteppedClock implements Clock {
  #now = 0;
  #timers: { readonly at: number; readonly callback: () => void }[] = [];

  now(): number {
    return 1_700_000_000_000 + this.#now;
  }

  monotonicMs(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + ms, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** Fires what is due, in order. Between two timers the event loop turns, so that real I/O goes on. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      const due = this.#timers.filter((timer) => timer.at <= end).toSorted((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers = this.#timers.filter((other) => other !== due);
      this.#now = due.at;
      due.callback();
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    this.#now = end;
  }
}
