import { nameOctetsMax, type Name } from "./name.ts";

const labelsMax = 128;

/**
 * A name taken apart for lookup: folded octets, where each label starts, and a hash of each suffix. One object is
 * used again and again, so that looking up allocates nothing.
 *
 * `wWw.P.test` becomes octets `3www1p4test0`, starts 0 4 6, and hashes of `www.p.test`, `p.test`, `test` and the root:
 * whatever suffix turns out to be the zone or the closest encloser, its hash is there.
 */
export class LookupName {
  readonly octets: Uint8Array = new Uint8Array(nameOctetsMax + 1);
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

  constructor(seed: number) {
    this.#seed = seed;
  }

  /**
   * Reads a name that must not be compressed, as the first question's cannot be.
   *
   * @returns the offset behind it, or -1 where it is malformed
   */
  read(input: Uint8Array, offset: number, end: number): number {
    const { octets, starts, hashes } = this;
    const seed = this.#seed;
    let at = offset;
    let written = 0;
    let labels = 0;
    for (;;) {
      if (at >= end) return -1;
      const labelLength = input[at]!;
      if (labelLength === 0) break;
      const labelEnd = at + 1 + labelLength;
      // The root octet still has to follow: a name of 255 octets is the longest.
      if (labelLength > 63 || written + labelLength + 2 > nameOctetsMax || labelEnd > end) return -1;
      starts[labels] = written;
      octets[written++] = labelLength;
      let hash = seed ^ labelLength;
      for (at++; at < labelEnd; at++) {
        let octet = input[at]!;
        if (octet >= 0x41 && octet <= 0x5a) octet |= 0x20;
        octets[written++] = octet;
        hash = Math.imul(hash ^ octet, 0x01000193);
      }
      hashes[labels++] = hash;
    }
    octets[written] = 0;
    starts[labels] = written;
    this.labels = labels;
    this.length = written + 1;
    let suffix = seed;
    hashes[labels] = suffix;
    for (let index = labels - 1; index >= 0; index--) {
      suffix = Math.imul(((suffix << 5) | (suffix >>> 27)) ^ hashes[index]!, 0x9e3779b1 | 0);
      suffix ^= suffix >>> 15;
      hashes[index] = suffix;
    }
    return at + 1;
  }

  /** Takes a name in wire form. */
  set(name: Name): void {
    this.read(name, 0, name.length);
  }
}
