import type { Boot } from "./boot.ts";

/** One entry of the queue. Its callback is gone once it was cancelled. */
export interface Timer {
  readonly atMs: number;
  readonly sequence: number;
  /** The boot whose end cancels the timer; none for what belongs to the world, such as a datagram in flight. */
  readonly owner: Boot | undefined;
  callback: (() => void) | undefined;
}

/**
 * The virtual timers of a simulation: a binary heap ordered by time, then by the order of scheduling.
 *
 * Cancelled timers stay in the heap until they surface or outnumber the others.
 */
export class TimerQueue {
  #heap: Timer[] = [];
  #cancelled = 0;
  #sequence = 0;

  schedule(atMs: number, callback: () => void, owner?: Boot): Timer {
    const timer: Timer = { atMs, sequence: this.#sequence++, owner, callback };
    this.#heap.push(timer);
    this.#siftUp(this.#heap.length - 1);
    return timer;
  }

  cancel(timer: Timer): void {
    if (timer.callback === undefined) return;
    timer.callback = undefined;
    this.#cancelled++;
    if (this.#cancelled > 64 && this.#cancelled * 2 > this.#heap.length) this.#rebuild();
  }

  /** Drops all timers of a boot that has ended. */
  cancelOwnedBy(boot: Boot): void {
    for (const timer of this.#heap) if (timer.owner === boot) timer.callback = undefined;
    this.#rebuild();
  }

  /** Removes the next timer due at or before `limitMs` and returns it with its callback. */
  take(limitMs: number): { readonly atMs: number; readonly callback: () => void } | undefined {
    for (;;) {
      const first = this.#heap[0];
      if (first === undefined) return undefined;
      const callback = first.callback;
      if (callback === undefined) {
        this.#removeFirst();
        this.#cancelled--;
        continue;
      }
      if (first.atMs > limitMs) return undefined;
      this.#removeFirst();
      first.callback = undefined; // a later cancel of a fired timer must not be counted
      return { atMs: first.atMs, callback };
    }
  }

  /** How many timers wait. */
  get size(): number {
    return this.#heap.length - this.#cancelled;
  }

  #rebuild(): void {
    // A sorted array is a heap.
    this.#heap = this.#heap.filter((timer) => timer.callback !== undefined).sort(compare);
    this.#cancelled = 0;
  }

  #removeFirst(): void {
    const last = this.#heap.pop() as Timer;
    if (this.#heap.length === 0) return;
    this.#heap[0] = last;
    this.#siftDown();
  }

  #siftUp(from: number): void {
    const heap = this.#heap;
    const timer = heap[from] as Timer;
    let index = from;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = heap[parentIndex] as Timer;
      if (compare(parent, timer) <= 0) break;
      heap[index] = parent;
      index = parentIndex;
    }
    heap[index] = timer;
  }

  #siftDown(): void {
    const heap = this.#heap;
    const timer = heap[0] as Timer;
    let index = 0;
    for (;;) {
      let childIndex = 2 * index + 1;
      if (childIndex >= heap.length) break;
      const right = heap[childIndex + 1];
      if (right !== undefined && compare(right, heap[childIndex] as Timer) < 0) childIndex++;
      const child = heap[childIndex] as Timer;
      if (compare(timer, child) <= 0) break;
      heap[index] = child;
      index = childIndex;
    }
    heap[index] = timer;
  }
}

function compare(a: Timer, b: Timer): number {
  return a.atMs - b.atMs || a.sequence - b.sequence;
}
