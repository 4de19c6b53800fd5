/**
 * How many signatures may be made in each second: a bucket that holds one second's worth. What is over it is not signed,
 * so a flood of names costs a bounded share of a core.
 */
export class SignBudget {
  readonly #perSecond: number;
  #left: number;
  #filledAt = Number.NEGATIVE_INFINITY;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
    this.#left = perSecond;
  }

  /** Whether one more may be made at this time of a monotonic clock, in milliseconds. */
  take(nowMs: number): boolean {
    if (nowMs > this.#filledAt) {
      const filled = this.#left + ((nowMs - this.#filledAt) / 1000) * this.#perSecond;
      this.#left = Math.min(this.#perSecond, filled);
      this.#filledAt = nowMs;
    }
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}
