import { DnsError } from "../dns-error.ts";

/** Octets that grow as they are written; all numbers are in network order. */
export class OctetWriter {
  #octets: Uint8Array;
  #length = 0;
  readonly #octetsMax: number;

  constructor(octetsMax = 65_535) {
    this.#octets = new Uint8Array(64);
    this.#octetsMax = octetsMax;
  }

  get length(): number {
    return this.#length;
  }

  /** A copy of what was written. */
  take(): Uint8Array {
    return this.#octets.slice(0, this.#length);
  }

  uint8(value: number): void {
    this.#reserve(1);
    this.#octets[this.#length++] = value;
  }

  uint16(value: number): void {
    this.uint8((value >>> 8) & 0xff);
    this.uint8(value & 0xff);
  }

  uint32(value: number): void {
    this.uint16(value >>> 16);
    this.uint16(value & 0xffff);
  }

  octets(octets: Uint8Array): void {
    this.#reserve(octets.length);
    this.#octets.set(octets, this.#length);
    this.#length += octets.length;
  }

  /** Overwrites two octets written before, for a length that was not known then. */
  patchUint16(at: number, value: number): void {
    this.#octets[at] = value >>> 8;
    this.#octets[at + 1] = value & 0xff;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed > this.#octetsMax) {
      throw new DnsError(
        "TooLarge",
        `more than ${this.#octetsMax} octets do not fit; use fewer or shorter records`,
      );
    }
    if (needed <= this.#octets.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#octets.length * 2));
    grown.set(this.#octets.subarray(0, this.#length));
    this.#octets = grown;
  }
}

/** All parts, one behind the other. */
export function concatenate(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Reads octets up to a limit and throws `BadMessage` instead of reading past it. */
export class OctetReader {
  readonly octets: Uint8Array;
  at: number;
  readonly end: number;

  constructor(octets: Uint8Array, at = 0, end: number = octets.length) {
    this.octets = octets;
    this.at = at;
    this.end = end;
  }

  get remaining(): number {
    return this.end - this.at;
  }

  uint8(): number {
    this.#need(1);
    return this.octets[this.at++]!;
  }

  uint16(): number {
    this.#need(2);
    const value = (this.octets[this.at]! << 8) | this.octets[this.at + 1]!;
    this.at += 2;
    return value;
  }

  uint32(): number {
    return this.uint16() * 0x10000 + this.uint16();
  }

  /** A view, not a copy. */
  take(count: number): Uint8Array {
    this.#need(count);
    const view = this.octets.subarray(this.at, this.at + count);
    this.at += count;
    return view;
  }

  /** A view of everything up to the limit. */
  rest(): Uint8Array {
    return this.take(this.remaining);
  }

  #need(count: number): void {
    if (this.at + count > this.end) {
      throw new DnsError(
        "BadMessage",
        `cut short: ${count} octets expected at ${this.at}, ${this.remaining} are left`,
      );
    }
  }
}

export function equalOctets(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index++) if (left[index] !== right[index]) return false;
  return true;
}
