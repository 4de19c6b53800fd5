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
  /** Questions with a valid server cookie, and with a wrong one. */
  readonly cookiesValid: number;
  readonly cookiesBad: number;
  /** Answers by the type that was asked for, `other` for most. */
  readonly types: ReadonlyMap<string, number>;
  /** Answers by response code, BADVERS and BADCOOKIE at 16 and 23. */
  readonly rcodes: Float64Array;
}

/** Places in a slot; response codes follow. */
export const counter = {
  queries: 0,
  dropped: 1,
  truncated: 2,
  notifies: 3,
  faults: 4,
  cookiesValid: 5,
  cookiesBad: 6,
  types: 8,
  rcodes: 32,
} as const;
/** Types that are counted each for itself; the first place is for all others. */
const countedTypes: readonly (readonly [number, string])[] = [
  [1, "A"],
  [2, "NS"],
  [5, "CNAME"],
  [6, "SOA"],
  [12, "PTR"],
  [15, "MX"],
  [16, "TXT"],
  [28, "AAAA"],
  [33, "SRV"],
  [43, "DS"],
  [48, "DNSKEY"],
  [64, "SVCB"],
  [65, "HTTPS"],
  [255, "ANY"],
];
/** The place of each type below 256. */
const typePlaces = new Uint8Array(256).fill(counter.types);
countedTypes.forEach(([type], index) => (typePlaces[type] = counter.types + 1 + index));
const rcodeCount = 32;

/** Memory for the counters of all threads. */
export function createCounters(): SharedArrayBuffer {
  return new SharedArrayBuffer(counterSlots * counterNumbers * 8);
}

/** The counters of one thread. */
export function counterSlot(memory: SharedArrayBuffer, slot: number): Float64Array {
  return new Float64Array(memory, slot * counterNumbers * 8, counterNumbers);
}

/** Where answers to questions for a type are counted. */
export function typeCounter(type: number): number {
  return type < 256 ? typePlaces[type]! : counter.types;
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
    cookiesValid: sum[counter.cookiesValid]!,
    cookiesBad: sum[counter.cookiesBad]!,
    types: new Map([
      ...countedTypes.map(([type, name]) => [name, sum[typeCounter(type)]!] as const),
      ["other", sum[counter.types]!] as const,
    ]),
    rcodes: sum.slice(counter.rcodes, counter.rcodes + rcodeCount),
  };
}
