import type { CanonicalSet } from "./canonical-set.ts";

/** The signatures of one record set. */
export interface SignedSet {
  /** RRSIG rdata, one for each key that signs. */
  readonly signatures: readonly Uint8Array[];
  /** To be made again from here on, in seconds since the epoch, while they still hold for half their life. */
  readonly renewAt: number;
  readonly inception: number;
  /** From here on not to be sent, since a cache may keep them for the set's TTL. */
  readonly uselessAt: number;
  /** Who signed, and with which keys. */
  readonly signer: object;
  readonly epoch: number;
}

interface Entry {
  readonly content: Uint8Array;
  readonly signed: SignedSet;
}

/** What an entry takes beside its octets, by rough measure. */
const overheadOctets = 400;

/**
 * Signatures by the content of what they sign, bounded by octets. Two generations: what is asked for moves to the young
 * one; when that holds half of the octets allowed, the old one is dropped and it takes that place. So a flood of names
 * that are asked for once does not push out what is asked for all the time.
 */
export class SignatureCache {
  readonly #octetsMax: number;
  #young = new Map<number, Entry>();
  #youngOctets = 0;
  #old = new Map<number, Entry>();
  #oldOctets = 0;

  constructor(octetsMax: number) {
    this.#octetsMax = octetsMax;
  }

  /** Octets held, by rough measure; never above the limit by more than one entry. */
  get octets(): number {
    return this.#youngOctets + this.#oldOctets;
  }

  find(set: CanonicalSet, signer: object): SignedSet | undefined {
    const key = set.hash;
    const young = this.#young.get(key);
    if (young !== undefined) return isOf(young, set, signer) ? young.signed : undefined;
    const old = this.#old.get(key);
    if (old === undefined || !isOf(old, set, signer)) return undefined;
    this.#old.delete(key);
    this.#oldOctets -= octetsOf(old);
    this.#put(key, old);
    return old.signed;
  }

  /** Keeps signatures, in place of those of the same set or of one with the same hash. */
  keep(set: CanonicalSet, signed: SignedSet): void {
    const before = this.#young.get(set.hash);
    if (before !== undefined) this.#youngOctets -= octetsOf(before);
    this.#put(set.hash, { content: set.copyContent(), signed });
  }

  #put(key: number, entry: Entry): void {
    this.#young.set(key, entry);
    this.#youngOctets += octetsOf(entry);
    if (this.#youngOctets * 2 < this.#octetsMax) return;
    this.#old = this.#young;
    this.#oldOctets = this.#youngOctets;
    this.#young = new Map();
    this.#youngOctets = 0;
  }
}

function octetsOf({ content, signed }: Entry): number {
  return content.length + signed.signatures.reduce((sum, octets) => sum + octets.length, overheadOctets);
}

function isOf({ content, signed }: Entry, set: CanonicalSet, signer: object): boolean {
  return signed.signer === signer && set.hasContent(content);
}
