import { LookupName } from "../name/lookup-name.ts";
import type { Name } from "../name/name.ts";
import { readSet, type SetMemory } from "./content-reader.ts";
import { content, header, node as nodeWord, segmentBits, set as setWord } from "./zone-layout.ts";
import type { ZoneSigner } from "./zone-signer.ts";

/** So many slots in a row are never all taken; only words that are being overwritten look so. */
const probesMax = 2 ** segmentBits;
/** Rotating sets start at least so many words from each other, so that each has a counter of its own. */
const turnShift = 3;
/** This thread's own, so that no two wait for one another. */
const barrier = new Int32Array(new SharedArrayBuffer(4));
/** A publishing thread that was put aside by the kernel is waited for this long at a time. */
const publishWaitMs = 1;

/**
 * A zone's memory as a reader sees it, in any thread.
 *
 * Reads are optimistic: between `begin` and `isCurrent` anything may be overwritten, so whatever was read is believed only
 * if the sequence has not moved since; then it is of one generation. Every loop over words is bounded for that reason.
 */
export class ZoneView implements SetMemory {
  readonly memory: SharedArrayBuffer;
  readonly origin: Name;
  readonly originLabels: number;
  /** Octets of the origin. */
  readonly originLength: number;
  octets: Uint8Array;
  words: Int32Array;
  /** Adds the signatures that the zone came with, where it did. */
  presigned: ZoneSigner | undefined;
  #signer: ZoneSigner | undefined;
  #lookup: LookupName | undefined;
  #lookupSeed = 0;
  /** Which record the next answer starts with, for each rotating set. Private, so that threads do not fight for it. */
  #turns: Uint16Array = new Uint16Array();
  #sequence = 0;

  constructor(memory: SharedArrayBuffer) {
    this.memory = memory;
    this.octets = new Uint8Array();
    this.words = new Int32Array(memory, 0, header.words);
    this.refresh();
    const { words } = this;
    this.originLength = words[header.originLength]!;
    this.origin = this.octets.slice(header.origin * 4, header.origin * 4 + this.originLength);
    this.originLabels = words[header.originLabels]!;
  }

  /** Starts reading: waits until nothing is being published, and takes in grown memory. */
  begin(): void {
    let sequence = Atomics.load(this.words, header.sequence);
    while ((sequence & 1) !== 0) {
      // Only another thread publishes while this one reads, so the wait is never the main thread's.
      Atomics.wait(this.words, header.sequence, sequence, publishWaitMs);
      sequence = Atomics.load(this.words, header.sequence);
    }
    this.#sequence = sequence;
    if (this.words[header.length] !== this.octets.length) this.refresh();
  }

  /** Whether everything read since `begin` is of one generation. */
  get isCurrent(): boolean {
    // Keeps the reads before it before the one that follows, on processors that would reorder them.
    Atomics.store(barrier, 0, 0);
    return Atomics.load(this.words, header.sequence) === this.#sequence;
  }

  /** Signs answers from this zone in this thread: from keys, or with what the zone came with. */
  get signer(): ZoneSigner | undefined {
    return this.#signer ?? (this.words[header.presigned] === 0 ? undefined : this.presigned);
  }

  set signer(signer: ZoneSigner | undefined) {
    this.#signer = signer;
    if (signer === undefined) return;
    signer.typesAt = (name) => this.typesAt(name);
    signer.recordsAt = (name, type) => this.recordsAt(name, type);
  }

  /** The types at a name: `undefined` where there is no such name, `[]` at an empty non-terminal. */
  typesAt(name: Name): number[] | undefined {
    const node = this.findName(name);
    if (node === 0) return undefined;
    const { words } = this;
    const types: number[] = [];
    const contentAt = words[node + nodeWord.content]!;
    const count = contentAt === 0 ? 0 : words[contentAt + content.info]! & 0xffff;
    for (let index = 0, at = contentAt + content.sets; index < count; index++) {
      if (words[at + setWord.extent]! >>> 16 !== 0) types.push(words[at + setWord.info]! & 0xffff);
      at += words[at + setWord.size]!;
    }
    return types;
  }

  /** The records of a name and type in wire form. */
  recordsAt(
    name: Name,
    type: number,
  ): { readonly ttl: number; readonly rdatas: readonly Uint8Array[] } | undefined {
    const node = this.findName(name);
    return node === 0 ? undefined : this.recordsOf(node, type);
  }

  /** As `recordsAt`, of a node. */
  recordsOf(
    node: number,
    type: number,
  ): { readonly ttl: number; readonly rdatas: readonly Uint8Array[] } | undefined {
    const contentAt = this.words[node + nodeWord.content]!;
    const set = contentAt === 0 ? 0 : this.findSet(contentAt, type);
    return set === 0 ? undefined : readSet(this, set, this.origin);
  }

  get ready(): boolean {
    return this.words[header.ready] !== 0;
  }

  /** The node named by the suffix that starts at label `label`, or 0. */
  find(name: LookupName, label: number): number {
    const hash = name.hashes[label]!;
    const { words } = this;
    const mask = words[header.mask]!;
    const table = words[words[header.table]! + ((hash >>> segmentBits) & words[header.directoryMask]!)]!;
    let slot = hash & mask;
    for (let probes = 0; probes < probesMax; probes++) {
      const at = table + 2 * slot;
      const found = words[at + 1]!;
      if (found === 0) return 0;
      if (words[at] === hash && this.isNamed(found, name, name.starts[label]!)) return found;
      slot = (slot + 1) & mask;
    }
    return 0;
  }

  /** Whether the node's name is that of a lookup name from octet `start` on. */
  isNamed(node: number, name: LookupName, start: number): boolean {
    const { words } = this;
    const length = words[node + nodeWord.info]! & 0xff;
    if (name.length - start !== length) return false;
    if (start === 0) return isSameWords(words, node + nodeWord.name, name);
    return name.isSuffixAt(start, words, node + nodeWord.name);
  }

  /** Whether a node's name is at or above a lookup name. */
  isAbove(node: number, name: LookupName): boolean {
    const start = name.length - (this.words[node + nodeWord.info]! & 0xff);
    for (let label = 0; label <= name.labels; label++) {
      const labelStart = name.starts[label]!;
      if (labelStart === start) return this.isNamed(node, name, start);
      if (labelStart > start) return false;
    }
    return false;
  }

  /** The set of a type in a content, or 0. Sets without records are none. */
  findSet(contentAt: number, type: number): number {
    const { words } = this;
    const count = words[contentAt + content.info]! & 0xffff;
    let at = contentAt + content.sets;
    for (let index = 0; index < count; index++) {
      if ((words[at + setWord.info]! & 0xffff) === type && words[at + setWord.extent]! >>> 16 !== 0)
        return at;
      at += words[at + setWord.size]!;
    }
    return 0;
  }

  /** The record that an answer with this set of `count` records starts with; the next will start one further on. */
  takeTurn(set: number, count: number): number {
    const index = set >>> turnShift;
    if (index >= this.#turns.length) this.#growTurns();
    const turn = this.#turns[index]!;
    const taken = turn < count ? turn : 0;
    this.#turns[index] = taken + 1;
    return taken;
  }

  /** A copy of a node's name. */
  nameOf(node: number): Name {
    const at = (node + nodeWord.name) * 4;
    return this.octets.slice(at, at + (this.words[node + nodeWord.info]! & 0xff));
  }

  /** The node of a name in lower case, or 0. */
  findName(name: Name): number {
    const seed = this.words[header.seed]!;
    if (this.#lookup === undefined || this.#lookupSeed !== seed) this.#lookup = new LookupName(seed);
    this.#lookupSeed = seed;
    this.#lookup.set(name);
    return this.find(this.#lookup, 0);
  }

  /** Takes in memory that has grown. `begin` does it for readers. */
  refresh(): void {
    const octets = Atomics.load(this.words, header.length);
    this.octets = new Uint8Array(this.memory, 0, octets);
    this.words = new Int32Array(this.memory, 0, octets / 4);
  }

  #growTurns(): void {
    const grown = new Uint16Array((this.words.length >>> turnShift) + 1);
    grown.set(this.#turns);
    this.#turns = grown;
  }
}

/** Whether a name of as many octets stands at a word. */
function isSameWords(words: Int32Array, at: number, { words: asked, length }: LookupName): boolean {
  const whole = length >>> 2;
  for (let index = 0; index < whole; index++) if (words[at + index] !== asked[index]) return false;
  const bits = (length & 3) << 3;
  return bits === 0 || ((words[at + whole]! ^ asked[whole]!) & ((1 << bits) - 1)) === 0;
}
