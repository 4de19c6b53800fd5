/**
 * SipHash-2-4 over 32-bit halves, without 64-bit integers and without allocation. One object per key.
 *
 * The result is left in `low` and `high`, which as octets are `low` then `high`, least octet first.
 */
export class SipHash {
  low = 0;
  high = 0;
  readonly #key: Int32Array;
  /** v0 to v3, low half before high half. */
  readonly #v: Int32Array = new Int32Array(8);

  constructor(key: Uint8Array) {
    this.#key = Int32Array.from([0, 4, 8, 12], (at) => readHalf(key, at));
  }

  hash(octets: Uint8Array, length: number): void {
    const v = this.#v;
    const key = this.#key;
    v[0] = key[0]! ^ 0x70736575;
    v[1] = key[1]! ^ 0x736f6d65;
    v[2] = key[2]! ^ 0x6e646f6d;
    v[3] = key[3]! ^ 0x646f7261;
    v[4] = key[0]! ^ 0x6e657261;
    v[5] = key[1]! ^ 0x6c796765;
    v[6] = key[2]! ^ 0x79746573;
    v[7] = key[3]! ^ 0x74656462;
    let at = 0;
    for (; at + 8 <= length; at += 8) this.#word(readHalf(octets, at), readHalf(octets, at + 4));
    let low = 0;
    let high = (length & 0xff) << 24;
    for (let index = 0; at + index < length; index++) {
      const octet = octets[at + index]!;
      if (index < 4) low |= octet << (8 * index);
      else high |= octet << (8 * (index - 4));
    }
    this.#word(low, high);
    v[4] ^= 0xff;
    for (let round = 0; round < 4; round++) sipRound(v);
    this.low = (v[0] ^ v[2] ^ v[4] ^ v[6]) | 0;
    this.high = (v[1] ^ v[3] ^ v[5] ^ v[7]) | 0;
  }

  #word(low: number, high: number): void {
    const v = this.#v;
    v[6]! ^= low;
    v[7]! ^= high;
    sipRound(v);
    sipRound(v);
    v[0]! ^= low;
    v[1]! ^= high;
  }
}

function readHalf(octets: Uint8Array, at: number): number {
  return octets[at]! | (octets[at + 1]! << 8) | (octets[at + 2]! << 16) | (octets[at + 3]! << 24);
}

function sipRound(v: Int32Array): void {
  add(v, 0, 2);
  rotateLeft(v, 2, 13);
  xor(v, 2, 0);
  swap(v, 0);
  add(v, 4, 6);
  rotateLeft(v, 6, 16);
  xor(v, 6, 4);
  add(v, 0, 6);
  rotateLeft(v, 6, 21);
  xor(v, 6, 0);
  add(v, 4, 2);
  rotateLeft(v, 2, 17);
  xor(v, 2, 4);
  swap(v, 4);
}

function add(v: Int32Array, to: number, from: number): void {
  const low = (v[to]! >>> 0) + (v[from]! >>> 0);
  v[to] = low | 0;
  v[to + 1] = (v[to + 1]! + v[from + 1]! + (low > 0xffff_ffff ? 1 : 0)) | 0;
}

function xor(v: Int32Array, to: number, from: number): void {
  v[to]! ^= v[from]!;
  v[to + 1]! ^= v[from + 1]!;
}

function rotateLeft(v: Int32Array, at: number, bits: number): void {
  const low = v[at]!;
  const high = v[at + 1]!;
  v[at] = (low << bits) | (high >>> (32 - bits));
  v[at + 1] = (high << bits) | (low >>> (32 - bits));
}

/** Rotation by 32. */
function swap(v: Int32Array, at: number): void {
  const low = v[at]!;
  v[at] = v[at + 1]!;
  v[at + 1] = low;
}
