import { DnsError } from "../dns-error.ts";
import { rdataNames } from "../message/rdata.ts";
import {
  typeA,
  typeAaaa,
  typeCname,
  typeDname,
  typeHttps,
  typeMx,
  typeNs,
  typeNsec,
  typeNsec3,
  typeRrsig,
  typeSrv,
  typeSvcb,
  typeTxt,
} from "../message/type-numbers.ts";
import { isAtOrBelow, type Name } from "../name/name.ts";
import { ownerPointer } from "./owner-pointer.ts";
import { buildPolicyTail } from "./policy-tail.ts";
import type { AnswerPolicy } from "./record-set.ts";
import { recordTtl, type WireSet } from "./wire-set.ts";
import { content, contentFlag, set as setWord, setFlag } from "./zone-layout.ts";

/** What is left of 65,535 octets beside a header, the longest question and our OPT record. */
const bodyOctetsMax = 65_000;
const headOctets = 12;

/** A name in rdata that leads on, and where it stands in the body. */
interface Target {
  readonly at: number;
  readonly name: Name;
}

/**
 * Builds contents as they lie in a zone's memory (`zone-layout`), in a scratch buffer: position-independent, so that equal
 * content is equal octets wherever it lies.
 */
export class ContentBuilder {
  /** What was built is at the start, `length` words of it; valid until the next `begin`. */
  words: Int32Array = new Int32Array(256);
  octets: Uint8Array = new Uint8Array(this.words.buffer);
  length = 0;
  readonly #origin: Name;

  /** @param origin of the zone, which names in rdata are compressed by */
  constructor(origin: Name) {
    this.#origin = origin;
  }

  begin(): void {
    this.length = 0;
    this.#take(content.sets);
    this.words[content.info] = 0;
  }

  /** Appends a set. @throws DnsError `TooLarge` or `BadRecord`; then the content must be begun anew */
  add(set: WireSet): void {
    this.#addSet(set, this.#origin);
    this.words[content.info]!++;
    if (set.rdatas.length > 0) this.words[content.info]! |= flagOf(set.type);
    if (set.type !== typeNsec3 && set.type !== typeRrsig) this.words[content.info]! |= contentFlag.visible;
  }

  /** Ends the content and returns its words. */
  end(): number {
    this.words[content.size] = this.length;
    return this.length;
  }

  /** A copy of what was built. */
  take(): Int32Array {
    return this.words.slice(0, this.length);
  }

  /** Appends a set that is part of another's tail, and returns where it starts. */
  addChosen(set: WireSet): number {
    const at = this.length;
    this.#addSet(set, this.#origin);
    return at;
  }

  /** Appends words, zeroed, and returns where they start. */
  #take(count: number): number {
    const at = this.length;
    const end = at + count;
    if (end > this.words.length) {
      const grown = new Int32Array(Math.max(end, 2 * this.words.length));
      grown.set(this.words);
      this.words = grown;
      this.octets = new Uint8Array(grown.buffer);
    }
    this.words.fill(0, at, end);
    this.length = end;
    return at;
  }

  /** Appends one word. */
  push(word: number): void {
    this.words[this.#take(1)] = word;
  }

  pushOctets(octets: Uint8Array): void {
    const at = this.#take((octets.length + 3) >>> 2);
    this.octets.set(octets, at * 4);
  }

  #addSet({ type, ttl, rdatas, policy }: WireSet, origin: Name): void {
    let octetsMax = 0;
    for (const rdata of rdatas) octetsMax += headOctets + rdata.length;
    const at = this.#take(setWord.body + ((octetsMax + 3) >>> 2));
    const bodyAt = (at + setWord.body) * 4;
    const starts: number[] = [];
    const patches: number[] = [];
    const targets: Target[] = [];
    // Records that change places have no names whose place is known, so none is compressed or followed.
    const isMoved = policy.kind === "geo" || policy.kind === "weightedOrder";
    const hasNames = !isMoved && !nameless.has(type);
    let end = bodyAt;
    for (const rdata of rdatas) {
      starts.push(end - bodyAt);
      const dataAt = this.#writeHead(end, type, recordTtl({ type, ttl }, rdata));
      end = hasNames
        ? this.#writeNamedData(dataAt, { type, rdata, origin, bodyAt, patches, targets })
        : this.#writeOctets(dataAt, rdata);
      this.#writeUint16(dataAt - 2, end - dataAt);
      if (end - bodyAt > bodyOctetsMax) throw tooLarge();
    }
    const bodyOctets = end - bodyAt;
    this.length = at + setWord.body + ((bodyOctets + 3) >>> 2);
    // What compression saved was written to by nobody, or overwritten with other octets: equal content must be equal octets.
    this.octets.fill(0, end, this.length * 4);
    const { words } = this;
    words[at + setWord.extent] = bodyOctets | (rdatas.length << 16);
    words[at + setWord.ttl] = ttl;
    const stride = strideOf(starts, bodyOctets);
    words[at + setWord.tail] = (this.length - at) | (stride << 16);
    let flags = rotationFlags(policy, {
      count: rdatas.length,
      isPlain: patches.length + targets.length === 0,
    });
    if (stride === 0 && rdatas.length > 0) flags |= this.#writeStarts(starts);
    if (patches.length > 0) flags |= this.#writePatches(patches);
    if (targets.length > 0) flags |= this.#writeTargets(targets);
    flags |= buildPolicyTail(this, at, { type, ttl, rdatas, policy });
    this.words[at + setWord.info] = type | flags;
    this.words[at + setWord.size] = this.length - at;
  }

  /** Owner, type, class, TTL and room for the length; where the data starts. */
  #writeHead(at: number, type: number, ttl: number): number {
    this.#writeUint16(at, ownerPointer);
    this.#writeUint16(at + 2, type);
    this.#writeUint16(at + 4, 1);
    this.#writeUint16(at + 6, ttl >>> 16);
    this.#writeUint16(at + 8, ttl & 0xffff);
    return at + headOctets;
  }

  #writeNamedData(
    dataAt: number,
    options: {
      readonly type: number;
      readonly rdata: Uint8Array;
      readonly origin: Name;
      readonly bodyAt: number;
      readonly patches: number[];
      readonly targets: Target[];
    },
  ): number {
    const { type, rdata, origin, bodyAt, patches, targets } = options;
    let at = dataAt;
    let copied = 0;
    for (const found of rdataNames(type, rdata)) {
      at = this.#writeOctets(at, rdata.subarray(copied, found.at));
      if (hasTarget(type)) targets.push({ name: found.name, at: at - bodyAt });
      copied = found.at + found.name.length;
      const shared = found.compressible ? sharedSuffix(found.name, origin) : undefined;
      if (shared === undefined) {
        at = this.#writeOctets(at, found.name);
        continue;
      }
      at = this.#writeOctets(at, found.name.subarray(0, shared.nameAt));
      patches.push(at - bodyAt, shared.originAt);
      this.#writeUint16(at, 0xc000);
      at += 2;
    }
    return this.#writeOctets(at, rdata.subarray(copied));
  }

  #writeOctets(at: number, octets: Uint8Array): number {
    const target = this.octets;
    for (let index = 0; index < octets.length; index++) target[at + index] = octets[index]!;
    return at + octets.length;
  }

  #writeUint16(at: number, value: number): void {
    this.octets[at] = value >>> 8;
    this.octets[at + 1] = value;
  }

  #writeStarts(starts: readonly number[]): number {
    this.pushOctets(new Uint8Array(Uint16Array.from(starts).buffer));
    return setFlag.varied;
  }

  #writePatches(patches: readonly number[]): number {
    this.push(patches.length / 2);
    for (let index = 0; index < patches.length; index += 2)
      this.push(patches[index]! | (patches[index + 1]! << 16));
    return setFlag.patched;
  }

  #writeTargets(targets: readonly Target[]): number {
    this.push(targets.length);
    for (const { at, name } of targets) {
      this.push(at | (name.length << 16));
      this.pushOctets(name);
    }
    return setFlag.targets;
  }
}

/** Types without names in their data that could be compressed or followed, as far as they are many. */
const nameless: ReadonlySet<number> = new Set([typeA, typeAaaa, typeTxt, typeRrsig, typeNsec, typeNsec3]);

function flagOf(type: number): number {
  switch (type) {
    case typeCname:
      return contentFlag.cname;
    case typeDname:
      return contentFlag.dname;
    case typeNs:
      return contentFlag.cut;
    case typeNsec:
      return contentFlag.nsec;
    case typeNsec3:
      return contentFlag.nsec3;
    case typeRrsig:
      return contentFlag.rrsig;
    default:
      return 0;
  }
}

/** A set with places in it that are looked up later is not turned: it is copied in two pieces, and then they move. */
function rotationFlags(
  policy: AnswerPolicy,
  set: { readonly count: number; readonly isPlain: boolean },
): number {
  if (policy.kind !== "rotate") return 0;
  return setFlag.isRotate | (set.count > 1 && set.isPlain ? setFlag.rotates : 0);
}

function strideOf(starts: readonly number[], length: number): number {
  const stride = length / starts.length;
  return starts.every((start, index) => start === index * stride) && starts.length > 0 ? stride : 0;
}

/** The types whose rdata names lead on: to the rest of a chain, or to addresses worth adding. */
function hasTarget(type: number): boolean {
  switch (type) {
    case typeNs:
    case typeCname:
    case typeDname:
    case typeMx:
    case typeSrv:
    case typeSvcb:
    case typeHttps:
      return true;
    default:
      return false;
  }
}

/** The longest suffix, root excepted, that a name shares with the origin. */
function sharedSuffix(
  name: Name,
  origin: Name,
): { readonly nameAt: number; readonly originAt: number } | undefined {
  for (let originAt = 0; origin[originAt] !== 0; originAt += origin[originAt]! + 1) {
    const suffix = origin.subarray(originAt);
    if (isAtOrBelow(name, suffix)) return { nameAt: name.length - suffix.length, originAt };
  }
  return undefined;
}

function tooLarge(): DnsError {
  return new DnsError(
    "TooLarge",
    `more than ${bodyOctetsMax} octets do not fit; use fewer or shorter records`,
  );
}
