import type { Boot } from "./boot.ts";

/** One entry of the queue. Its callback is gone once it was cancelled. */
export interface Timer {
  atMs: number;
  sequence: number;
  /** The boot whose end cancels the timer; none for what belongs to the world, such as a datagram in flight. */
  readonly owner: Boot | undefined;
  callback: (() => void) | undefined;
  /** It is due, and its owner is paused. */
  parked: boolean;
}

/**
 * The virtual timers of a simulation: a binary heap ordered by time, then by the order of scheduling.
 *
 * Cancelled timers stay in the heap until they surface or outnumber the others.
 */
export class TimerQueue {
  #heap: Timer[] = [];
  #parked: Timer[] = [];
  #cancelled = 0;
  #sequence = 0;

  schedule(atMs: number, callback: () => void, owner?: Boot): Timer {
    const timer: Timer = { atMs, sequence: this.#sequence++, owner, callback, parked: false };
    this.#heap.push(timer);
    this.#siftUp(this.#heap.length - 1);
    return timer;
  }

  cancel(timer: Timer): void {
    if (timer.callback === undefined) return;
    timer.callback = undefined;
    if (timer.parked) return;
    this.#cancelled++;
    if (this.#cancelled > 64 && this.#cancelled * 2 > this.#heap.length) this.#rebuild();
  }

  /** Drops all timers of a boot that has ended. */
  cancelOwnedBy(boot: Boot): void {
    for (const timer of this.#heap) if (timer.owner === boot) timer.callback = undefined;
    this.#parked = this.#parked.filter((timer) => timer.owner !== boot);
    this.#rebuild();
  }

  /**
   * Lets the timers of a boot that was paused go on: those that came due meanwhile are due now, in their order. With
   * `laterMs` its time stood still, and all of its timers are due so much later.
   */
  resume(boot: Boot, { nowMs, laterMs }: { readonly nowMs: number; readonly laterMs: number }): void {
    if (laterMs > 0) for (const timer of this.#heap) if (timer.owner === boot) timer.atMs += laterMs;
    for (const timer of this.#parked) {
      if (timer.owner !== boot || timer.callback === undefined) continue;
      timer.parked = false;
      timer.atMs = laterMs > 0 ? timer.atMs + laterMs : nowMs;
      timer.sequence = this.#sequence++;
      this.#heap.push(timer);
    }
    this.#parked = this.#parked.filter((timer) => timer.owner !== boot);
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
      if (first.owner?.paused === true) {
        first.parked = true;
        this.#parked.push(first);
        continue;
      }
      first.callback = undefined; // a later cancel of a fired timer must not be counted
      return { atMs: first.atMs, callback };
    }
  }

  /** How many timers wait. */
  get size(): number {
    return this.#heap.length - this.#cancelled + this.#parked.length;
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
