import { geoTagId } from "../geo/geo-tag.ts";
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
  untagged: 7,
  types: 8,
  rcodes: 32,
  tags: 64,
} as const;
/** Places for pairs of a tag's number and its count; a tag is looked for from the place that its number says on. */
const tagsMax = 32;
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

/** Counts an answer for which weights drew the group of a tag (`geoTagId`). */
export function countTag(counters: Float64Array, tag: number): void {
  for (let tries = 0; tag !== 0 && tries < tagsMax; tries++) {
    const at = counter.tags + 2 * ((tag + tries) & (tagsMax - 1));
    if (counters[at] === 0) counters[at] = tag;
    if (counters[at] !== tag) continue;
    counters[at + 1]!++;
    return;
  }
  counters[counter.untagged]!++;
}

/** Adds up what all threads counted for a tag. */
export function sumTag(memory: SharedArrayBuffer, geoTag: string): number {
  const all = new Float64Array(memory);
  const tag = geoTagId(geoTag);
  let sum = 0;
  for (let slot = 0; slot < all.length; slot += counterNumbers) {
    if (tag === 0) sum += all[slot + counter.untagged]!;
    for (let at = slot + counter.tags; tag !== 0 && at < slot + counter.tags + 2 * tagsMax; at += 2)
      if (all[at] === tag) sum += all[at + 1]!;
  }
  return sum;
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
