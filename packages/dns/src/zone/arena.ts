import { DnsError } from "../dns-error.ts";

/** Octets of a block are a multiple of this. */
const unitWords = 4;
/** Words of a cache line: a block that fits in one lies in one, so that reading it waits for memory once. */
const lineWords = 16;
const unitsExactMax = 64;
const classCount = 160;
const initialOctets = 16_384;
const stepOctetsMin = 65_536;
/** Offsets are 32-bit integers. */
const reserveOctetsMax = 2 ** 31 - 65_536;
const reserveOctetsMin = 2 ** 26;

/** `SharedArrayBuffer` with the length that ECMAScript 2024 lets grow in place, so that no reader has to be told. */
type Growable = SharedArrayBuffer & { grow(octets: number): void; readonly maxByteLength: number };

/**
 * Shared memory that one thread hands out in blocks and takes back, and that others may read. It grows in place up to
 * 2 GiB of address space; what is not used yet costs no memory.
 *
 * Blocks go by word index (4 octets), start at multiples of 16 octets and are not zeroed. Freed blocks are kept by size:
 * exact up to 1 KiB, above that in four sizes for each doubling. The size is remembered by whoever has the block.
 */
export class Arena {
  readonly memory: SharedArrayBuffer;
  /** Of a fixed length, and made anew when the memory grows: views that follow the length by themselves are slow. */
  octets: Uint8Array;
  words: Int32Array;
  /** First word that was never handed out. */
  #top: number;
  /** First free block of each class, 0 for none; a free block's first word is the next. */
  readonly #free: Int32Array = new Int32Array(classCount);
  readonly #growable: Growable;

  /** @param fixedWords words at the start that are the caller's own; the first holds the length in octets, for readers */
  constructor(fixedWords: number) {
    this.#growable = reserve();
    this.memory = this.#growable;
    this.octets = new Uint8Array(this.memory, 0, initialOctets);
    this.words = new Int32Array(this.memory, 0, initialOctets / 4);
    this.words[0] = initialOctets;
    this.#top = roundUp(fixedWords);
  }

  /** Octets handed out ever, free blocks included. */
  get usedOctets(): number {
    return this.#top * 4;
  }

  /**
   * Makes sure that blocks of so many words in all, in so many blocks, can be had without growing.
   *
   * @throws DnsError `TooLarge` when the memory is at its end
   */
  reserve(words: number, blocks: number): void {
    // A block's class may be up to a fifth larger than the block, and a gap before it almost a line.
    this.#growTo(this.#top + Math.ceil(words * 1.25) + blocks * lineWords);
  }

  /** @throws DnsError `TooLarge` when the memory is at its end */
  allocate(words: number): number {
    const units = Math.ceil(words / unitWords);
    const index = classOf(units);
    const free = this.#free[index]!;
    if (free !== 0) {
      this.#free[index] = this.words[free]!;
      return free;
    }
    const size = unitsOf(index) * unitWords;
    const room = lineWords - (this.#top % lineWords);
    const gap = size <= lineWords && size > room ? room : 0;
    const at = this.#top + gap;
    this.#growTo(at + size);
    if (gap > 0) this.free(this.#top, gap);
    this.#top = at + size;
    return at;
  }

  /** Takes a block back. `words` is what it was allocated with. */
  free(at: number, words: number): void {
    const index = classOf(Math.ceil(words / unitWords));
    this.words[at] = this.#free[index]!;
    this.#free[index] = at;
  }

  #growTo(words: number): void {
    const needed = words * 4;
    const present = this.octets.length;
    if (needed <= present) return;
    const max = this.#growable.maxByteLength;
    if (needed > max) {
      throw new DnsError(
        "TooLarge",
        `a zone needs more than ${max} octets of memory; serve its names as several zones`,
      );
    }
    const wanted = Math.max(needed, present + Math.max(stepOctetsMin, present >>> 1));
    const octets = Math.min(max, Math.ceil(wanted / stepOctetsMin) * stepOctetsMin);
    this.#growable.grow(octets);
    this.octets = new Uint8Array(this.memory, 0, octets);
    this.words = new Int32Array(this.memory, 0, octets / 4);
    // Readers take new views when they see another length than theirs.
    Atomics.store(this.words, 0, octets);
  }
}

/** Address space is reserved, not memory; where even that is short, less of it will do. */
function reserve(): Growable {
  for (let octets = reserveOctetsMax; ; octets /= 2) {
    try {
      const maxByteLength = Math.floor(octets / stepOctetsMin) * stepOctetsMin;
      return Reflect.construct(SharedArrayBuffer, [initialOctets, { maxByteLength }]) as Growable;
    } catch (error) {
      if (octets / 2 < reserveOctetsMin) throw error;
    }
  }
}

function roundUp(words: number): number {
  return Math.ceil(words / unitWords) * unitWords;
}

function classOf(units: number): number {
  if (units <= unitsExactMax) return units;
  const exponent = 31 - Math.clz32(units - 1);
  const quarters = ((units - 1) >>> (exponent - 2)) + 1;
  return unitsExactMax + (exponent - 6) * 4 + quarters - 4;
}

function unitsOf(index: number): number {
  if (index <= unitsExactMax) return index;
  const step = index - unitsExactMax - 1;
  return ((step & 3) + 5) << ((step >>> 2) + 4);
}
