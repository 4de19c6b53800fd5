import { DnsError } from "../dns-error.ts";
import { dnskeyOf, keyState, keyTagOf, type SigningKey, type SigningKeys } from "./signing-key.ts";

/** How long things stay in caches, in seconds. */
export interface RolloverDelays {
  /** TTL of the DNSKEY set. */
  readonly dnskeyTtl: number;
  /** The largest TTL of any record in the zone: signatures live in caches as long. */
  readonly recordTtlMax: number;
  /** TTL of the DS set in the parent. */
  readonly dsTtl: number;
  /** How long a change takes to reach every server that answers the zone. */
  readonly propagation: number;
}

/** What has been seen of a new key from outside, in seconds since the epoch. */
export interface KeySightings {
  /** When every cluster that answers the zone was first seen to publish it in its DNSKEY set. */
  readonly publishedEverywhereAt: number;
  /** When the parent's servers were first seen to have its DS; needed for SEP keys only. */
  readonly dsAt?: number;
}

/**
 * First step of a roll-over: a new key that is published, its DS asked for by CDS if it is a SEP key, and that waits. Both
 * kinds start so: a ZSK is pre-published, a KSK or CSK gets its DS before it is needed (double DS; RFC 7583 §3.2.1, §3.3.2).
 *
 * @throws DnsError `BadKey` when a key of the same tag is there: a validator would have to try both
 */
export function introduceKey(keys: SigningKeys, key: SigningKey, now: number): SigningKeys {
  const tag = keyTagOf(dnskeyOf(key));
  const taken = [...keys.own.map(dnskeyOf), ...keys.foreign.map(({ dnskey }) => dnskey)].map(keyTagOf);
  if (taken.includes(tag))
    throw new DnsError("BadKey", `a key with tag ${tag} is there already; generate another one`);
  return { ...keys, own: [...keys.own, { ...key, times: { publish: now } }] };
}

/** The earliest moment at which a waiting key may sign: every cache that knows the key set at all knows it by then. */
function earliestActivation(
  { secureEntryPoint }: Pick<SigningKey, "secureEntryPoint">,
  { publishedEverywhereAt, dsAt }: KeySightings,
  { dnskeyTtl, dsTtl, propagation }: RolloverDelays,
): number | undefined {
  const known = publishedEverywhereAt + dnskeyTtl + propagation;
  if (!secureEntryPoint) return known;
  return dsAt === undefined ? undefined : Math.max(known, dsAt + dsTtl + propagation);
}

/**
 * Second step: sets the time at which the waiting key takes over from those of its kind, when they retire, and when they
 * are gone. All later steps follow from these times. Nothing changes while the parent has no DS for a SEP key.
 *
 * @throws DnsError `BadKey` when no such key waits
 */
export function scheduleTakeover(
  keys: SigningKeys,
  tag: number,
  {
    now,
    sightings,
    delays,
  }: { readonly now: number; readonly sightings: KeySightings; readonly delays: RolloverDelays },
): SigningKeys {
  const successor = keys.own.find((key) => keyTagOf(dnskeyOf(key)) === tag);
  if (successor === undefined || keyState(successor, now) !== "published")
    throw new DnsError("BadKey", `no key with tag ${tag} waits to sign; introduce it first`);
  const earliest = earliestActivation(successor, sightings, delays);
  if (earliest === undefined) return keys;
  const at = Math.max(now, earliest);
  const gone = at + Math.max(delays.recordTtlMax, delays.dnskeyTtl) + delays.propagation;
  const own = keys.own.map((key): SigningKey => {
    const { times } = key;
    if (key === successor) return { ...key, times: { ...times, activate: at } };
    if (key.secureEntryPoint !== successor.secureEntryPoint || times.activate === undefined) return key;
    if (times.retire !== undefined && times.retire <= at) return key;
    return { ...key, times: { ...times, retire: at, remove: gone } };
  });
  return { ...keys, own };
}

/** The next moment after `now` at which any of our keys changes its state, or `undefined`. */
export function nextKeyChange({ own }: SigningKeys, now: number): number | undefined {
  const later = own
    .flatMap(({ times }) => [times.publish, times.activate, times.retire, times.remove])
    .filter((time): time is number => time !== undefined && time > now);
  return later.length === 0 ? undefined : Math.min(...later);
}
