import type { Random } from "../random.ts";

/**
 * A seeded source of numbers for one purpose, e.g. one link or one node. Sources of different purposes are
 * independent of each other: a draw from one never shifts the next draw of another.
 */
export class Prng implements Random {
  // The state of sfc32 (Chris Doty-Humphrey's small fast counting generator).
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number, purpose: string) {
    const text = `${seed}/${purpose}`;
    this.#a = hashText(text, 0x9e3779b9);
    this.#b = hashText(text, 0x85ebca6b);
    this.#c = hashText(text, 0xc2b2ae35);
    for (let i = 0; i < 12; i++) this.uint32();
  }

  uint32(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    this.#c |= 0;
    return sum >>> 0;
  }

  float(): number {
    return (this.uint32() * 0x200000 + (this.uint32() >>> 11)) / 0x20000000000000;
  }

  bytes(length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    for (let i = 0; i < length; i++) bytes[i] = this.uint32() >>> 24;
    return bytes;
  }

  uuid(): string {
    const bytes = this.bytes(16);
    bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
  }

  /** A uniform number from `min` up to `max`. */
  between(min: number, max: number): number {
    return min + (max - min) * this.float();
  }

  /** A uniform integer from 0 to `end - 1`. */
  below(end: number): number {
    return Math.floor(this.float() * end);
  }

  /** True with the given probability. Draws nothing where the outcome is certain. */
  chance(probability: number): boolean {
    if (probability <= 0) return false;
    return probability >= 1 || this.float() < probability;
  }
}

/** FNV-1a over UTF-16 code units, started from `basis`, with a final avalanche. */
function hashText(text: string, basis: number): number {
  let hash = 0x811c9dc5 ^ basis;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b);
  return hash ^ (hash >>> 16);
}
