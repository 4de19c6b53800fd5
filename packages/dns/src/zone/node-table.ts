import { DnsError } from "../dns-error.ts";
import type { Arena } from "./arena.ts";
import { header, segmentBits } from "./zone-layout.ts";

const slotsMin = 16;
const slotsMax = 2 ** segmentBits;
/** Only names that were made to collide could need more. */
const directoryMax = 2 ** 18;

/** A part of the table. `entries` are those of all hashes that end in the same `depth` bits behind the slot's. */
interface Segment {
  at: number;
  entries: number;
  readonly depth: number;
}

/**
 * The nodes of a zone by the hash of their names: extendible hashing, so that a table of millions grows by one segment at a
 * time and in no long step. Written by one thread and read by others through `ZoneView.find`. The hash is seeded, so
 * nobody can choose names that collide.
 *
 * A segment has slots with linear probing. While there is one it doubles; a full one of the largest size is split in two by
 * the next bit of the hash. The directory has a segment for each value of these bits, the same one several times where
 * others were split more often: with segments for the bits 0, 01 and 11 it is `[0, 01, 0, 11]`, for 00, 01, 10 and 11.
 */
export class NodeTable {
  readonly #arena: Arena;
  /** As the directory in shared memory. */
  #segments: Segment[];

  constructor(arena: Arena) {
    this.#arena = arena;
    const segment = { at: this.#allocateSegment(slotsMin), entries: 0, depth: 0 };
    const directory = arena.allocate(1);
    const { words } = arena;
    words[directory] = segment.at;
    words[header.table] = directory;
    words[header.mask] = slotsMin - 1;
    words[header.directoryMask] = 0;
    this.#segments = [segment];
  }

  /**
   * Makes sure that nodes with these hashes can be inserted, which then takes no memory. Parts of the table are replaced as a
   * whole, so none is ever seen half filled.
   *
   * @throws DnsError `TooLarge` where memory is at its end, or names collide beyond all chance
   */
  reserve(hashes: readonly number[]): void {
    if (hashes.length === 1) {
      const [hash] = hashes;
      for (;;) {
        const segment = this.#segmentOf(hash!);
        if (this.#hasRoom(segment, 1)) return;
        this.#grow(segment, 1);
      }
    }
    // Several names of one batch may need the same node above them.
    const unique = new Set(hashes);
    for (let isShort = unique.size > 0; isShort;) {
      isShort = false;
      const wanted = new Map<Segment, number>();
      for (const hash of unique) {
        const segment = this.#segmentOf(hash);
        wanted.set(segment, (wanted.get(segment) ?? 0) + 1);
      }
      for (const [segment, more] of wanted) {
        if (this.#hasRoom(segment, more)) continue;
        this.#grow(segment, more);
        isShort = true;
      }
    }
  }

  /** Adds a node that is not there yet, within what was reserved. */
  insert(hash: number, node: number): void {
    const { words } = this.#arena;
    const segment = this.#segmentOf(hash);
    put(words, segment.at, { mask: words[header.mask]!, hash, node });
    segment.entries++;
  }

  remove(hash: number, node: number): void {
    const { words } = this.#arena;
    const segment = this.#segmentOf(hash);
    const table = segment.at;
    const mask = words[header.mask]!;
    let slot = hash & mask;
    while (words[table + 2 * slot + 1] !== node) {
      if (words[table + 2 * slot + 1] === 0) return;
      slot = (slot + 1) & mask;
    }
    segment.entries--;
    // Entries behind the gap move into it unless they would then stand before their own slot.
    for (let next = (slot + 1) & mask; words[table + 2 * next + 1] !== 0; next = (next + 1) & mask) {
      const home = words[table + 2 * next]! & mask;
      if (((next - home) & mask) < ((next - slot) & mask)) continue;
      words[table + 2 * slot] = words[table + 2 * next]!;
      words[table + 2 * slot + 1] = words[table + 2 * next + 1]!;
      slot = next;
    }
    words[table + 2 * slot + 1] = 0;
  }

  /** Forgets all nodes. */
  clear(): void {
    const { words } = this.#arena;
    const slots = words[header.mask]! + 1;
    for (const segment of new Set(this.#segments)) {
      words.fill(0, segment.at, segment.at + 2 * slots);
      segment.entries = 0;
    }
  }

  #segmentOf(hash: number): Segment {
    return this.#segments[(hash >>> segmentBits) & (this.#segments.length - 1)]!;
  }

  /** Three of five slots at most are taken. */
  #hasRoom({ entries }: Segment, more: number): boolean {
    return (entries + more) * 5 <= (this.#arena.words[header.mask]! + 1) * 3;
  }

  #grow(segment: Segment, more: number): void {
    const slots = this.#arena.words[header.mask]! + 1;
    if (slots === slotsMax) {
      this.#split(segment);
      return;
    }
    let wanted = slots;
    while (wanted < slotsMax && (segment.entries + more) * 5 > wanted * 3) wanted *= 2;
    this.#widen(segment, wanted);
  }

  /** Gives the only segment more slots. */
  #widen(segment: Segment, slots: number): void {
    const arena = this.#arena;
    const at = this.#allocateSegment(slots);
    this.#move(segment.at, () => at, slots - 1);
    const { words } = arena;
    const former = { at: segment.at, slots: words[header.mask]! + 1 };
    this.#publish(() => {
      words[words[header.table]!] = at;
      words[header.mask] = slots - 1;
    });
    segment.at = at;
    arena.free(former.at, 2 * former.slots);
  }

  #split(segment: Segment): void {
    const arena = this.#arena;
    if (2 ** segment.depth === this.#segments.length) this.#doubleDirectory();
    const bit = 2 ** segment.depth;
    const depth = segment.depth + 1;
    const low = { at: this.#allocateSegment(slotsMax), entries: 0, depth };
    const high = { at: this.#allocateSegment(slotsMax), entries: 0, depth };
    const halfOf = (hash: number): Segment => (((hash >>> segmentBits) & bit) === 0 ? low : high);
    this.#move(
      segment.at,
      (hash) => {
        const half = halfOf(hash);
        half.entries++;
        return half.at;
      },
      slotsMax - 1,
    );
    const { words } = arena;
    const directory = words[header.table]!;
    this.#publish(() => {
      // All places of the segment have the same lowest bits.
      const first = this.#segments.indexOf(segment);
      for (let index = first; index < this.#segments.length; index += bit) {
        const half = (index & bit) === 0 ? low : high;
        this.#segments[index] = half;
        words[directory + index] = half.at;
      }
    });
    arena.free(segment.at, 2 * slotsMax);
  }

  #doubleDirectory(): void {
    const arena = this.#arena;
    const size = this.#segments.length;
    if (size === directoryMax)
      throw new DnsError("TooLarge", "too many names of a zone have the same hash; serve fewer of them");
    const at = arena.allocate(2 * size);
    const { words } = arena;
    const former = words[header.table]!;
    words.copyWithin(at, former, former + size);
    words.copyWithin(at + size, former, former + size);
    this.#publish(() => {
      words[header.table] = at;
      words[header.directoryMask] = 2 * size - 1;
    });
    this.#segments = [...this.#segments, ...this.#segments];
    arena.free(former, size);
  }

  /** Copies all entries of a segment into those that `target` names. */
  #move(from: number, target: (hash: number) => number, mask: number): void {
    const { words } = this.#arena;
    const slots = words[header.mask]! + 1;
    for (let slot = 0; slot < slots; slot++) {
      const node = words[from + 2 * slot + 1]!;
      if (node === 0) continue;
      const hash = words[from + 2 * slot]!;
      put(words, target(hash), { mask, hash, node });
    }
  }

  #publish(change: () => void): void {
    const { words } = this.#arena;
    const sequence = words[header.sequence]!;
    Atomics.add(words, header.sequence, 1);
    change();
    Atomics.store(words, header.sequence, sequence + 2);
    Atomics.notify(words, header.sequence);
  }

  #allocateSegment(slots: number): number {
    const at = this.#arena.allocate(2 * slots);
    this.#arena.words.fill(0, at, at + 2 * slots);
    return at;
  }
}

function put(
  words: Int32Array,
  table: number,
  { mask, hash, node }: { readonly mask: number; readonly hash: number; readonly node: number },
): void {
  let slot = hash & mask;
  while (words[table + 2 * slot + 1] !== 0) slot = (slot + 1) & mask;
  words[table + 2 * slot] = hash;
  words[table + 2 * slot + 1] = node;
}
