import { createPrivateKey, sign, type KeyObject } from "node:crypto";
import { typeCdnskey, typeCds, typeDnskey } from "../message/type-numbers.ts";
import { foldName, type Name } from "../name/name.ts";
import type { CanonicalSet } from "./canonical-set.ts";
import { nextKeyChange } from "./key-rollover.ts";
import type { SignedSet } from "./signature-cache.ts";
import {
  algorithmEcdsaP256,
  dnskeyOf,
  isPublished,
  keyState,
  keyTagOf,
  type SigningKey,
  type SigningKeys,
} from "./signing-key.ts";

const backdateSeconds = 3_600;
const hourSeconds = 3_600;
const signatureOctets = 64;

/** How long signatures hold. */
export interface SignatureLifetime {
  /** Seconds from signing to expiration, shortened by up to a tenth so that not all expire at once. Default 5 days. */
  readonly lifetimeSeconds?: number;
}

interface LoadedKey {
  readonly tag: number;
  readonly key: KeyObject;
}

/**
 * Signs record sets of one zone with the keys that are due (RFC 4035 §2.2): zone data by the active ZSKs, or by the active
 * SEP keys where there is no ZSK; the key sets by every SEP key of ours that is published, so that a resolver is content
 * with whichever of their DS records it knows.
 *
 * Which keys are due follows from the clock alone, so that threads change over by themselves. Holds no other state.
 */
export class RecordSigner {
  readonly origin: Name;
  readonly keys: SigningKeys;
  readonly #lifetimeSeconds: number;
  readonly #loaded = new Map<SigningKey, LoadedKey>();
  #dataKeys: readonly LoadedKey[] = [];
  #setKeys: readonly LoadedKey[] = [];
  #epoch = 0;
  #from = Number.POSITIVE_INFINITY;
  #until = Number.NEGATIVE_INFINITY;

  constructor(origin: Name, keys: SigningKeys, { lifetimeSeconds = 5 * 86_400 }: SignatureLifetime = {}) {
    this.origin = foldName(origin);
    this.keys = keys;
    this.#lifetimeSeconds = lifetimeSeconds;
  }

  /** Whether signatures can still be sent, and need not be made again, at this second. */
  isFresh(signed: SignedSet, now: number): boolean {
    this.#choose(now);
    return signed.epoch === this.#epoch && now >= signed.inception && now < signed.renewAt;
  }

  /** Whether signatures that should be made again can be sent once more. */
  isUsable(signed: SignedSet, now: number): boolean {
    this.#choose(now);
    return signed.epoch === this.#epoch && now >= signed.inception && now < signed.uselessAt;
  }

  /** Signs a set at a second. About 30 microseconds for each key. */
  sign(set: CanonicalSet, now: number): SignedSet {
    this.#choose(now);
    const keys = isKeySet(set.type) ? this.#setKeys : this.#dataKeys;
    const lifetime = Math.max(this.#lifetimeSeconds, 2 * set.ttl + hourSeconds);
    const inception = now - backdateSeconds;
    // Taken from the content, so that the sets of a zone expire over a span of time and those of all threads alike.
    const jitter = (((set.hash >>> 0) % 1024) / 1024) * (lifetime / 10);
    const expiration = Math.floor(now + lifetime - jitter);
    return {
      signatures: keys.map((key) => this.#signature(set, key, { inception, expiration })),
      inception,
      renewAt: Math.floor((now + expiration) / 2),
      uselessAt: expiration - set.ttl,
      signer: this,
      epoch: this.#epoch,
    };
  }

  /** RRSIG rdata (RFC 4034 §3.1). */
  #signature(
    set: CanonicalSet,
    { tag, key }: LoadedKey,
    { inception, expiration }: { readonly inception: number; readonly expiration: number },
  ): Uint8Array {
    const { origin } = this;
    const rdata = new Uint8Array(18 + origin.length + signatureOctets);
    const view = new DataView(rdata.buffer);
    view.setUint16(0, set.type);
    view.setUint8(2, algorithmEcdsaP256);
    view.setUint8(3, set.labels);
    view.setUint32(4, set.ttl);
    view.setUint32(8, expiration);
    view.setUint32(12, inception);
    view.setUint16(16, tag);
    rdata.set(origin, 18);
    const signed = set.toSigned(rdata.subarray(0, 18 + origin.length));
    rdata.set(sign("sha256", signed, { key, dsaEncoding: "ieee-p1363" }), 18 + origin.length);
    return rdata;
  }

  #choose(now: number): void {
    if (now >= this.#from && now < this.#until) return;
    this.#from = now;
    this.#until = nextKeyChange(this.keys, now) ?? Number.POSITIVE_INFINITY;
    const dataKeys = this.#load(chooseDataKeys(this.keys.own, now));
    const setKeys = this.#load(chooseSetKeys(this.keys.own, now));
    const same = equalKeys(dataKeys, this.#dataKeys) && equalKeys(setKeys, this.#setKeys);
    this.#dataKeys = dataKeys;
    this.#setKeys = setKeys;
    if (!same) this.#epoch++;
  }

  #load(keys: readonly SigningKey[]): LoadedKey[] {
    return keys.map((key) => {
      let loaded = this.#loaded.get(key);
      if (loaded === undefined) {
        loaded = { tag: keyTagOf(dnskeyOf(key)), key: privateKeyOf(key) };
        this.#loaded.set(key, loaded);
      }
      return loaded;
    });
  }
}

/** Whether a set is signed by SEP keys: DNSKEY, and what speaks to the parent (RFC 7344 §4.1). */
export function isKeySet(type: number): boolean {
  return type === typeDnskey || type === typeCds || type === typeCdnskey;
}

/**
 * The keys that sign zone data. A zone that is meant to be signed is never left without: where no key is active, that
 * which retired last signs on, or the first that is published.
 */
export function chooseDataKeys(own: readonly SigningKey[], now: number): readonly SigningKey[] {
  const active = own.filter((key) => keyState(key, now) === "active");
  const zoneKeys = active.filter((key) => !key.secureEntryPoint);
  if (zoneKeys.length > 0) return zoneKeys;
  if (active.length > 0) return active;
  return lastResort(own, now);
}

/** The keys that sign the key sets. */
export function chooseSetKeys(own: readonly SigningKey[], now: number): readonly SigningKey[] {
  const published = own.filter((key) => isPublished(key, now));
  const entryPoints = published.filter((key) => key.secureEntryPoint);
  return entryPoints.length > 0 ? entryPoints : chooseDataKeys(own, now);
}

function lastResort(own: readonly SigningKey[], now: number): readonly SigningKey[] {
  const retired = own
    .filter((key) => key.times.retire !== undefined && key.times.retire <= now)
    .sort((left, right) => right.times.retire! - left.times.retire!);
  const published = own.filter((key) => isPublished(key, now));
  return [...retired, ...published, ...own].slice(0, 1);
}

function equalKeys(left: readonly LoadedKey[], right: readonly LoadedKey[]): boolean {
  return left.length === right.length && left.every((key, index) => key === right[index]);
}

function privateKeyOf({ privateKey, publicKey }: SigningKey): KeyObject {
  const text = (octets: Uint8Array): string => Buffer.from(octets).toString("base64url");
  const jwk = {
    kty: "EC",
    crv: "P-256",
    d: text(privateKey),
    x: text(publicKey.subarray(0, 32)),
    y: text(publicKey.subarray(32)),
  };
  return createPrivateKey({ key: jwk, format: "jwk" });
}
