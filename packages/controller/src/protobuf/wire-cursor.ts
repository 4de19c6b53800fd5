import { ControllerError } from "../controller-error.ts";

/** What stands behind a tag (protobuf encoding, "Message Structure"). */
export const wireTypes = { varint: 0, fixed64: 1, delimited: 2, fixed32: 5 } as const;

/** Walks over the octets of protobuf messages, and never past the end that it is given. */
export class WireCursor {
  octets: Buffer = Buffer.alloc(0);
  at = 0;
  /** One past the message that is being read. */
  end = 0;

  /** Begins anew. */
  reset(octets: Buffer, start: number, end: number): void {
    this.octets = octets;
    this.at = start;
    this.end = end;
  }

  /** A tag or a length. @throws ControllerError `MalformedResponse` */
  size(): number {
    if (this.at < this.end) {
      const octet = this.octets[this.at] as number;
      if (octet < 0x80) {
        this.at++;
        return octet;
      }
    }
    let value = 0;
    let factor = 1;
    for (let count = 0; count < 5; count++) {
      const octet = this.#octet();
      value += (octet & 0x7f) * factor;
      if (octet < 0x80) return value;
      factor *= 0x80;
    }
    throw this.broken("a number is too long");
  }

  /** A whole number of 64 bits with a sign, as near as a number comes to it: as JSON is read. */
  integer(): number {
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const octet = this.#octet();
      const bits = octet & 0x7f;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high = bits >>> 4;
      } else high |= bits << (shift - 32);
      if (octet < 0x80) return (high | 0) * 0x1_0000_0000 + (low >>> 0);
    }
    throw this.broken("a number is too long");
  }

  /** One past what a length that is read here delimits. */
  delimited(): number {
    const length = this.size();
    if (length > this.end - this.at) throw this.broken("a field is longer than what it stands in");
    return this.at + length;
  }

  /** Reads what a length delimits; `read` sees its end as the end. */
  within<R>(read: (cursor: this) => R): R {
    const outer = this.end;
    const end = this.delimited();
    this.end = end;
    const value = read(this);
    this.at = end;
    this.end = outer;
    return value;
  }

  /** Passes what stands behind a tag. */
  skip(tag: number): void {
    switch (tag & 7) {
      case wireTypes.varint:
        this.integer();
        return;
      case wireTypes.fixed64:
        return this.#pass(8);
      case wireTypes.delimited:
        this.at = this.delimited();
        return;
      case wireTypes.fixed32:
        return this.#pass(4);
      default:
        throw this.broken(`a field has the wire type ${tag & 7}`);
    }
  }

  /** The text up to there. */
  text(end: number): string {
    const { octets, at } = this;
    this.at = end;
    return octets.toString(isShortAscii(octets, at, end) ? "latin1" : "utf8", at, end);
  }

  broken(why: string): ControllerError {
    return new ControllerError("MalformedResponse", `broken protobuf at octet ${this.at}: ${why}`);
  }

  #octet(): number {
    if (this.at >= this.end) throw this.broken("a message ends inside of a number");
    return this.octets[this.at++] as number;
  }

  #pass(octets: number): void {
    if (octets > this.end - this.at) throw this.broken("a message ends inside of a number");
    this.at += octets;
  }
}

/** Whether these octets stand there, and not past the end of all. */
export function hasOctets(octets: Uint8Array, at: number, expected: Uint8Array): boolean {
  for (let index = 0; index < expected.length; index++)
    if (octets[at + index] !== expected[index]) return false;
  return true;
}

/** Most texts are short and ASCII, and looking costs less than the decoding that it saves. */
function isShortAscii(octets: Buffer, start: number, end: number): boolean {
  if (end - start > 64) return false;
  let seen = 0;
  for (let at = start; at < end; at++) seen |= octets[at] as number;
  return seen < 0x80;
}
