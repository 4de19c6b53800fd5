import type { Name } from "../name/name.ts";

const slots = 4096;
/** Beyond this many, names are found but not added, so that a search always ends at a free slot. */
const entriesMax = 3072;
/** A pointer has 14 bits (RFC 1035 §4.1.4): what stands further back cannot be pointed to. */
const pointableOctets = 0x4000;

/**
 * Where the suffixes of names stand in one message, so that later names can point there. Unlike `NameCompressor` it
 * allocates nothing for a name: a transfer of a million names writes millions of them.
 *
 * For `www.example.` at 12 and then `ftp.example.`: the first leaves its two suffixes at 12 and 16; the second finds
 * none for itself, `example.` at 16, and becomes `3 ftp` and a pointer to 16. Only places of labels are kept, never
 * those of pointers, so no pointer leads to a pointer. Names count as equal only in the same case: each must come out
 * as it was put in.
 */
export class SuffixTable {
  readonly #places = new Uint16Array(slots);
  readonly #messages = new Uint32Array(slots);
  /** Entries of earlier messages do not count, so that starting a new one costs nothing. */
  #message = 0;
  #entries = 0;
  readonly #labelAt = new Uint8Array(128);
  readonly #hashes = new Uint32Array(128);

  /** Forgets everything, for the next message. */
  clear(): void {
    this.#message++;
    this.#entries = 0;
  }

  /** Writes a name into the message `output` at `at`, as short as earlier ones allow; returns the place behind it. */
  write(name: Name, output: Uint8Array, at: number): number {
    const labels = this.#hashSuffixes(name);
    let written = at;
    for (let index = 0; index < labels; index++) {
      const labelAt = this.#labelAt[index]!;
      let slot = this.#hashes[index]! % slots;
      for (; this.#messages[slot] === this.#message; slot = (slot + 1) % slots) {
        const place = this.#places[slot]!;
        if (!standsAt(output, place, name, labelAt)) continue;
        output[written] = 0xc0 | (place >>> 8);
        output[written + 1] = place;
        return written + 2;
      }
      if (written < pointableOctets && this.#entries < entriesMax) {
        this.#entries++;
        this.#messages[slot] = this.#message;
        this.#places[slot] = written;
      }
      const length = name[labelAt]! + 1;
      for (let octet = 0; octet < length; octet++) output[written + octet] = name[labelAt + octet]!;
      written += length;
    }
    output[written] = 0;
    return written + 1;
  }

  /** Hashes each suffix, from the last label to the first, so that equal suffixes hash alike. */
  #hashSuffixes(name: Name): number {
    let labels = 0;
    for (let at = 0; name[at] !== 0; at += name[at]! + 1) this.#labelAt[labels++] = at;
    let hash = 0x811c9dc5;
    let end = name.length - 1;
    for (let index = labels - 1; index >= 0; index--) {
      const start = this.#labelAt[index]!;
      for (let at = start; at < end; at++) hash = Math.imul(hash ^ name[at]!, 0x01000193);
      end = start;
      this.#hashes[index] = hash >>> 0;
    }
    return labels;
  }
}

/** Whether exactly this name, from the label at `start` on, stands at a place of a message. */
// oxlint-disable-next-line max-params -- called for each label of each record
function standsAt(output: Uint8Array, place: number, name: Name, start: number): boolean {
  let at = place;
  for (let index = start; ;) {
    const length = output[at]!;
    if (length >= 0xc0) {
      at = ((length & 0x3f) << 8) | output[at + 1]!;
      continue;
    }
    for (let octet = 0; octet <= length; octet++)
      if (output[at + octet] !== name[index + octet]) return false;
    if (length === 0) return true;
    at += length + 1;
    index += length + 1;
  }
}
