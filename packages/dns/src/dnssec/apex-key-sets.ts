import { rdataToText } from "../message/rdata.ts";
import { typeCds, typeDnskey } from "../message/type-numbers.ts";
import { nameToText, type Name } from "../name/name.ts";
import type { RecordSet } from "../zone/record-set.ts";
import { chooseDataKeys, chooseSetKeys } from "./record-signer.ts";
import { dnskeyOf, dsOf, isPublished, keyState, type SigningKeys } from "./signing-key.ts";

/** What resolvers ask for at most over UDP, so that key sets come without TCP. */
const answerOctetsMax = 1232;
const recordHeadOctets = 12;
const signatureOctets = 18 + 64;
/** Header, the question's type and class, and OPT with a cookie. */
const otherOctets = 12 + 4 + 11 + 28;

/** Where keys are published. */
export interface KeySetOptions {
  readonly origin: Name;
  readonly keys: SigningKeys;
  /** TTL of the sets, in seconds. */
  readonly ttl: number;
}

/**
 * The DNSKEY, CDS and CDNSKEY sets of a zone at a second: our published keys and all foreign ones (RFC 8901 model 2), and
 * for the parent the DS records that we and the other clusters want (RFC 7344). Without a wanted key there is no CDS set:
 * the form that makes a parent drop all DS records (RFC 8078 §4) is never written.
 */
export function apexKeySets({ origin, keys, ttl }: KeySetOptions, now: number): RecordSet[] {
  const published = new Set([
    ...keys.own.filter((key) => isPublished(key, now)),
    ...chooseDataKeys(keys.own, now),
  ]);
  const dnskeys = distinct([...[...published].map(dnskeyOf), ...keys.foreign.map(({ dnskey }) => dnskey)]);
  const wanted = distinct(wantedKeys(keys, now));
  const name = nameToText(origin);
  const texts = (type: number, rdatas: readonly Uint8Array[]): string[] =>
    rdatas.map((rdata) => rdataToText(type, rdata));
  const sets: RecordSet[] = [{ name, type: "DNSKEY", ttl, data: texts(typeDnskey, dnskeys) }];
  if (wanted.length === 0) return sets;
  const digests = wanted.map((dnskey) => dsOf(origin, dnskey));
  return [
    ...sets,
    { name, type: "CDS", ttl, data: texts(typeCds, digests) },
    { name, type: "CDNSKEY", ttl, data: texts(typeDnskey, wanted) },
  ];
}

/** What this cluster adds to the sets of all: for the others to fetch, without what we publish for them. */
export function ownKeySets(
  { keys, name, ...options }: KeySetOptions & { readonly name: string },
  now: number,
): RecordSet[] {
  const sets = apexKeySets({ ...options, keys: { own: keys.own, foreign: [] } }, now);
  return sets.filter(({ type }) => type !== "CDS").map((set) => ({ ...set, name }));
}

/** What is wrong with the number of keys: an answer with the DNSKEY set that needs TCP; `undefined` when it fits. */
export function keySetProblem({ origin, keys, ttl }: KeySetOptions, now: number): string | undefined {
  const count = apexKeySets({ origin, keys, ttl }, now)[0]!.data.length;
  const signatures = chooseSetKeys(keys.own, now).length;
  const octets =
    otherOctets +
    origin.length +
    count * (recordHeadOctets + 68) +
    signatures * (recordHeadOctets + signatureOctets + origin.length);
  if (octets <= answerOctetsMax) return undefined;
  return `the DNSKEY set of ${nameToText(origin)} takes ${octets} octets with ${count} keys, over ${answerOctetsMax}; remove keys that are out of use`;
}

function wantedKeys({ own, foreign }: SigningKeys, now: number): Uint8Array[] {
  const ours = own.filter((key) => {
    const state = keyState(key, now);
    return key.secureEntryPoint && (state === "published" || state === "active");
  });
  return [...ours.map(dnskeyOf), ...foreign.filter(({ wantsDs }) => wantsDs).map(({ dnskey }) => dnskey)];
}

function distinct(rdatas: readonly Uint8Array[]): Uint8Array[] {
  return [...new Map(rdatas.map((rdata) => [rdata.join(), rdata])).values()].sort((left, right) =>
    Buffer.compare(left, right),
  );
}
