import { nameOctetsMax, type Name } from "./name.ts";

const labelsMax = 128;
/** Room for the longest name, and to read four octets from any place of it. */
const roomOctets = 264;

/**
 * A name taken apart for lookup: folded octets, where each label starts, and a hash of each suffix. One object is
 * used again and again, so that looking up allocates nothing.
 *
 * `wWw.P.test` becomes octets `3www1p4test0`, starts 0 4 6, and hashes of `www.p.test`, `p.test`, `test` and the root:
 * whatever suffix turns out to be the zone or the closest encloser, its hash is there.
 */
export class LookupName {
  readonly octets: Uint8Array = new Uint8Array(roomOctets);
  /** The same memory, to compare four octets at once. */
  readonly words: Int32Array = new Int32Array(this.octets.buffer);
  /** Where label `i` starts in `octets`; at `labels` the root octet. */
  readonly starts: Uint8Array = new Uint8Array(labelsMax);
  /** Hash of the suffix that starts at label `i`. */
  readonly hashes: Int32Array = new Int32Array(labelsMax);
  labels = 0;
  /** Octets in wire form, root octet included. */
  length = 0;
  readonly #seed: number;
  /** The same memory, to read four octets from a place that is no multiple of four. */
  readonly #view: DataView = new DataView(this.octets.buffer);

  constructor(seed: number) {
    this.#seed = seed;
  }

  /**
   * Reads a name that must not be compressed, as the first question's cannot be. `view`, if given, is over `input`, and makes it
   * quicker.
   *
   * @returns the offset behind it, or -1 where it is malformed
   */
  // oxlint-disable-next-line max-params -- an options object per message would be the hot path's only allocation
  read(input: Uint8Array, offset: number, end: number, view?: DataView): number {
    const { starts } = this;
    let at = offset;
    let labels = 0;
    for (;;) {
      if (at >= end) return -1;
      const labelLength = input[at]!;
      if (labelLength === 0) break;
      if (labelLength > 63) return -1;
      starts[labels++] = at - offset;
      at += labelLength + 1;
      // The root octet still has to follow: a name of 255 octets is the longest.
      if (at - offset >= nameOctetsMax) return -1;
    }
    const length = at - offset + 1;
    starts[labels] = length - 1;
    this.labels = labels;
    this.length = length;
    if (view !== undefined && offset + length + 3 <= input.length) this.#foldWords(view, offset);
    else this.#foldOctets(input, offset);
    this.#hash();
    return at + 1;
  }

  /** Takes a name in wire form. */
  set(name: Name): void {
    this.read(name, 0, name.length);
  }

  /** Whether the suffix that starts at octet `start` is the name of the same length that lies at a word of `words`. */
  isSuffixAt(start: number, words: Int32Array, at: number): boolean {
    const { length } = this;
    const view = this.#view;
    let from = start;
    let word = at;
    for (; from + 4 <= length; from += 4) if (view.getInt32(from, true) !== words[word++]) return false;
    const bits = (length - from) << 3;
    return bits === 0 || ((view.getInt32(from, true) ^ words[word]!) & ((1 << bits) - 1)) === 0;
  }

  /** Copies a name in lower case, four octets at once; up to three that follow it are copied, too. */
  #foldWords(view: DataView, offset: number): void {
    const { words, length } = this;
    const count = (length + 3) >>> 2;
    for (let index = 0, at = offset; index < count; index++, at += 4)
      words[index] = fold(view.getInt32(at, true));
  }

  #foldOctets(input: Uint8Array, offset: number): void {
    const { octets, length } = this;
    for (let index = 0; index < length; index++) {
      const octet = input[offset + index]!;
      octets[index] = octet >= 0x41 && octet <= 0x5a ? octet | 0x20 : octet;
    }
  }

  /** Hashes all suffixes in one go, from the root on: each label goes on from the hash of those behind it. */
  #hash(): void {
    const { starts, hashes, labels } = this;
    const view = this.#view;
    let hash = this.#seed;
    hashes[labels] = hash;
    let end = this.length - 1;
    for (let label = labels - 1; label >= 0; label--) {
      const start = starts[label]!;
      let from = start;
      for (; from + 4 <= end; from += 4) hash = mix(hash, view.getInt32(from, true));
      const bits = (end - from) << 3;
      if (bits > 0) hash = mix(hash, view.getInt32(from, true) & ((1 << bits) - 1));
      hashes[label] = hash;
      end = start;
    }
  }
}

function mix(hash: number, word: number): number {
  const product = Math.imul(hash ^ word, 0x9e3779b1);
  return product ^ (product >>> 15);
}

/** Four octets in lower case. */
function fold(word: number): number {
  // The upper bit of each octet of these sums says whether its lower seven bits are at least `A`, and beyond `Z`.
  const low = word & 0x7f7f7f7f;
  const isUpper = ((low + 0x3f3f3f3f) ^ (low + 0x25252525)) & ~word & 0x80808080;
  return word | (isUpper >>> 2);
}
