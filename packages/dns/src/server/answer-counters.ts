import { counterNumbers, counterSlots } from "./shared-authority.ts";

/** Numbers since the start, of all threads; they only rise. */
export interface AuthorityCounters {
  /** Messages answered. */
  readonly queries: number;
  /** Messages that get no answer: shorter than a header, answers themselves, from ports that would answer back. */
  readonly dropped: number;
  readonly truncated: number;
  readonly notifies: number;
  /** Messages answered SERVFAIL since answering them threw: each is a fault of ours. */
  readonly faults: number;
  /** Answers by response code, BADVERS and BADCOOKIE at 16 and 23. */
  readonly rcodes: Float64Array;
}

/** Places in a slot; response codes follow. */
export const counter = { queries: 0, dropped: 1, truncated: 2, notifies: 3, faults: 4, rcodes: 32 } as const;
const rcodeCount = 32;

/** Memory for the counters of all threads. */
export function createCounters(): SharedArrayBuffer {
  return new SharedArrayBuffer(counterSlots * counterNumbers * 8);
}

/** The counters of one thread. */
export function counterSlot(memory: SharedArrayBuffer, slot: number): Float64Array {
  return new Float64Array(memory, slot * counterNumbers * 8, counterNumbers);
}

/** Adds up the counters of all threads. */
export function sumCounters(memory: SharedArrayBuffer): AuthorityCounters {
  const all = new Float64Array(memory);
  const sum = new Float64Array(counterNumbers);
  for (let index = 0; index < all.length; index++) sum[index % counterNumbers]! += all[index]!;
  return {
    queries: sum[counter.queries]!,
    dropped: sum[counter.dropped]!,
    truncated: sum[counter.truncated]!,
    notifies: sum[counter.notifies]!,
    faults: sum[counter.faults]!,
    rcodes: sum.slice(counter.rcodes, counter.rcodes + rcodeCount),
  };
}
