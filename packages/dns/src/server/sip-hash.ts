/**
 * SipHash-2-4 over 32-bit halves, without 64-bit integers and without allocation. One object per key.
 *
 * The result is left in `low` and `high`, which as octets are `low` then `high`, least octet first.
 */
export class SipHash {
  low = 0;
  high = 0;
  readonly #key: Int32Array;
  /** The halves of the message's words; the last word holds what is left of the octets, and their number. */
  #words: Int32Array = new Int32Array(16);

  constructor(key: Uint8Array) {
    this.#key = Int32Array.from([0, 4, 8, 12], (at) => readHalf(key, at));
  }

  hash(octets: Uint8Array, length: number): void {
    const blockRounds = this.#fill(octets, length) * 2;
    const words = this.#words;
    const key = this.#key;
    // In variables, which the processor has in registers; as elements of an array they cost three times as much.
    let low0 = key[0]! ^ 0x70736575;
    let high0 = key[1]! ^ 0x736f6d65;
    let low1 = key[2]! ^ 0x6e646f6d;
    let high1 = key[3]! ^ 0x646f7261;
    let low2 = key[0]! ^ 0x6e657261;
    let high2 = key[1]! ^ 0x6c796765;
    let low3 = key[2]! ^ 0x79746573;
    let high3 = key[3]! ^ 0x74656462;
    for (let round = 0; round < blockRounds + 4; round++) {
      const inBlock = round < blockRounds;
      if (inBlock && (round & 1) === 0) {
        low3 ^= words[round]!;
        high3 ^= words[round + 1]!;
      }
      if (round === blockRounds) low2 ^= 0xff;
      // v0 += v1; v1 <<<= 13; v1 ^= v0; v0 <<<= 32
      let low = (low0 + low1) | 0;
      let high = (high0 + high1 + carry(low, low1)) | 0;
      let half = (low1 << 13) | (high1 >>> 19);
      high1 = ((high1 << 13) | (low1 >>> 19)) ^ high;
      low1 = half ^ low;
      low0 = high;
      high0 = low;
      // v2 += v3; v3 <<<= 16; v3 ^= v2
      low = (low2 + low3) | 0;
      high2 = (high2 + high3 + carry(low, low3)) | 0;
      low2 = low;
      half = (low3 << 16) | (high3 >>> 16);
      high3 = ((high3 << 16) | (low3 >>> 16)) ^ high2;
      low3 = half ^ low2;
      // v0 += v3; v3 <<<= 21; v3 ^= v0
      low = (low0 + low3) | 0;
      high0 = (high0 + high3 + carry(low, low3)) | 0;
      low0 = low;
      half = (low3 << 21) | (high3 >>> 11);
      high3 = ((high3 << 21) | (low3 >>> 11)) ^ high0;
      low3 = half ^ low0;
      // v2 += v1; v1 <<<= 17; v1 ^= v2; v2 <<<= 32
      low = (low2 + low1) | 0;
      high = (high2 + high1 + carry(low, low1)) | 0;
      half = (low1 << 17) | (high1 >>> 15);
      high1 = ((high1 << 17) | (low1 >>> 15)) ^ high;
      low1 = half ^ low;
      low2 = high;
      high2 = low;
      if (inBlock && (round & 1) === 1) {
        low0 ^= words[round - 1]!;
        high0 ^= words[round]!;
      }
    }
    this.low = low0 ^ low1 ^ low2 ^ low3;
    this.high = high0 ^ high1 ^ high2 ^ high3;
  }

  /** Splits the message, and returns how many words of 64 bits it has. */
  #fill(octets: Uint8Array, length: number): number {
    const count = (length >>> 3) + 1;
    if (2 * count > this.#words.length) this.#words = new Int32Array(2 * count);
    const words = this.#words;
    words[2 * count - 2] = 0;
    words[2 * count - 1] = length << 24;
    const whole = length & ~3;
    // Only the last word has a length to be kept, and it has at most one whole half.
    for (let at = 0; at < whole; at += 4) words[at >>> 2] = readHalf(octets, at);
    for (let at = whole; at < length; at++) words[at >>> 2]! |= octets[at]! << (8 * (at & 3));
    return count;
  }
}

/** What a sum of two halves carries: 1 where it is less than one of them. */
function carry(sum: number, part: number): 0 | 1 {
  return sum >>> 0 < part >>> 0 ? 1 : 0;
}

function readHalf(octets: Uint8Array, at: number): number {
  return octets[at]! | (octets[at + 1]! << 8) | (octets[at + 2]! << 16) | (octets[at + 3]! << 24);
}
