import type { Random } from "@meridian/runtime";

/** A quick generator for choices that need no secrecy (sfc32), seeded once from the runtime. */
export class FastRandom {
  readonly #state: Int32Array;

  constructor(random: Random) {
    this.#state = Int32Array.from([random.uint32(), random.uint32(), random.uint32(), 1]);
    // The first outputs still resemble the seed.
    for (let round = 0; round < 12; round++) this.#next();
  }

  /** An integer from 0 to `limit` - 1, for limits up to 2^32; the bias is below limit / 2^32. */
  below(limit: number): number {
    return Math.floor((this.#next() / 0x1_0000_0000) * limit);
  }

  #next(): number {
    const state = this.#state;
    const sum = (state[0]! + state[1]! + state[3]!) | 0;
    state[3] = state[3]! + 1;
    state[0] = state[1]! ^ (state[1]! >>> 9);
    state[1] = state[2]! + (state[2]! << 3);
    state[2] = ((state[2]! << 21) | (state[2]! >>> 11)) + sum;
    return sum >>> 0;
  }
}
