/** Everything random of a run follows from it: `npm run fuzz -- --seed N`. */
export const fuzzSeed: number = Number(process.env["MERIDIAN_FUZZ_SEED"] ?? 1);
/** How many times the cut that CI runs. */
export const fuzzRuns: number = Number(process.env["MERIDIAN_FUZZ_RUNS"] ?? 1);

/** Uniform integers from 0 up to and without `limit`. */
export type Integers = (limit: number) => number;

/** The numbers for one purpose (mulberry32 over a hash of both): equal for equal seeds. */
export function seededIntegers(purpose: string, seed: number = fuzzSeed): Integers {
  let state = seed | 0;
  for (const character of purpose) state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000) * limit);
  };
}

export function pick<T>(from: readonly T[], integer: Integers): T {
  return from[integer(from.length)] as T;
}
