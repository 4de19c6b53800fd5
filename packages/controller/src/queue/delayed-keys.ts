import type { Clock } from "@meridian/runtime";

interface Delay {
  readonly key: string;
  readonly readyAtMs: number;
  /** Of two with one time, the first goes first. */
  readonly order: number;
  /** Where it stands in the heap. */
  at: number;
}

/**
 * Keys that are due later, each once. They stand in a heap, and one timer waits for the first of them, however many there
 * are.
 */
export class DelayedKeys {
  readonly #clock: Pick<Clock, "monotonicMs" | "after">;
  readonly #onDue: (key: string) => void;
  /** A binary heap: the parent of `at` is at `(at - 1) >> 1`, and none is due before its parent. */
  readonly #heap: Delay[] = [];
  readonly #delays = new Map<string, Delay>();
  #order = 0;
  #timer: { readonly atMs: number; readonly cancel: () => void } | undefined;

  /** `onDue` is called with each key at its time; the key is no longer here then. */
  constructor(clock: Pick<Clock, "monotonicMs" | "after">, onDue: (key: string) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  get size(): number {
    return this.#heap.length;
  }

  /** Sets when a key is due, in place of what was set before. */
  set(key: string, readyAtMs: number): void {
    if (this.#delays.get(key)?.readyAtMs === readyAtMs) return;
    this.#remove(key);
    const delay: Delay = { key, readyAtMs, order: this.#order++, at: this.#heap.length };
    this.#delays.set(key, delay);
    this.#heap.push(delay);
    this.#rise(delay);
    this.#arm();
  }

  delete(key: string): void {
    if (this.#remove(key)) this.#arm();
  }

  clear(): void {
    this.#heap.length = 0;
    this.#delays.clear();
    this.#arm();
  }

  #remove(key: string): boolean {
    const delay = this.#delays.get(key);
    if (delay === undefined) return false;
    this.#delays.delete(key);
    const last = this.#heap.pop() as Delay;
    if (last !== delay) {
      this.#place(last, delay.at);
      this.#rise(last);
      this.#sink(last);
    }
    return true;
  }

  /** Has the timer ring when the first key is due. */
  #arm(): void {
    const atMs = this.#heap[0]?.readyAtMs;
    if (this.#timer?.atMs === atMs) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (atMs === undefined) return;
    const cancel = this.#clock.after(atMs - this.#clock.monotonicMs(), () => {
      this.#timer = undefined;
      this.#ring();
    });
    this.#timer = { atMs, cancel };
  }

  #ring(): void {
    const nowMs = this.#clock.monotonicMs();
    for (let first = this.#heap[0]; first !== undefined && first.readyAtMs <= nowMs; first = this.#heap[0]) {
      this.#remove(first.key);
      this.#onDue(first.key);
    }
    this.#arm();
  }

  #rise(delay: Delay): void {
    while (delay.at > 0) {
      const parentAt = (delay.at - 1) >> 1;
      const parent = this.#heap[parentAt] as Delay;
      if (!isBefore(delay, parent)) return;
      this.#place(parent, delay.at);
      this.#place(delay, parentAt);
    }
  }

  #sink(delay: Delay): void {
    for (;;) {
      const left = this.#heap[2 * delay.at + 1];
      const right = this.#heap[2 * delay.at + 2];
      if (left === undefined) return;
      const child = right !== undefined && isBefore(right, left) ? right : left;
      if (!isBefore(child, delay)) return;
      const { at } = child;
      this.#place(child, delay.at);
      this.#place(delay, at);
    }
  }

  #place(delay: Delay, at: number): void {
    this.#heap[at] = delay;
    delay.at = at;
  }
}

function isBefore(a: Delay, b: Delay): boolean {
  return a.readyAtMs < b.readyAtMs || (a.readyAtMs === b.readyAtMs && a.order < b.order);
}
