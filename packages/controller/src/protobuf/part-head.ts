import { ControllerError } from "../controller-error.ts";
import { wireTypes } from "./wire-cursor.ts";

/** Octets that a whole head has at most: a tag and a length, or a tag and a number. */
export const headBytesMax = 15;

/** What a field of a stream begins with: its tag, and where it stands. */
export class PartHead {
  tag = 0;
  bodyAt = 0;
  bodyEnd = 0;
  #at = 0;

  /** Reads the head that begins there; false where it is cut. @throws ControllerError `MalformedResponse` */
  read(octets: Buffer, at: number, end: number): boolean {
    this.#at = at;
    this.tag = this.#size(octets, end);
    if (this.tag < 0) return false;
    const wireType = this.tag & 7;
    if (wireType === wireTypes.delimited) {
      const length = this.#size(octets, end);
      if (length < 0) return false;
      this.bodyAt = this.#at;
      this.bodyEnd = this.#at + length;
      return true;
    }
    this.bodyAt = this.#at;
    this.bodyEnd = this.#at + this.#lengthOf(wireType, octets, end);
    return this.bodyEnd > this.bodyAt;
  }

  /** Octets of what says its length by its type or in itself; 0 where it is cut. */
  #lengthOf(wireType: number, octets: Buffer, end: number): number {
    if (wireType === wireTypes.fixed64) return 8;
    if (wireType === wireTypes.fixed32) return 4;
    if (wireType !== wireTypes.varint) throw malformed(`a field has the wire type ${wireType}`);
    for (let length = 1; length <= 10; length++) {
      if (this.#at + length > end) return 0;
      if ((octets[this.#at + length - 1] as number) < 0x80) return length;
    }
    throw malformed("a number is too long");
  }

  /** A tag or a length; -1 where it is cut. */
  #size(octets: Buffer, end: number): number {
    let value = 0;
    let factor = 1;
    for (let count = 0; count < 5; count++) {
      if (this.#at >= end) return -1;
      const octet = octets[this.#at++] as number;
      value += (octet & 0x7f) * factor;
      if (octet < 0x80) return value;
      factor *= 0x80;
    }
    throw malformed("a number is too long");
  }
}

const malformed = (why: string): ControllerError =>
  new ControllerError("MalformedResponse", `broken protobuf between two objects: ${why}`);
