import { createHash } from "node:crypto";
import { OctetReader, OctetWriter } from "../message/octets.ts";

/** `MUJ1` in ASCII: where a record starts, so that whole ones can be found behind damage. */
const mark = Uint8Array.of(0x4d, 0x55, 0x4a, 0x31);
const checksumOctets = 8;
/** Mark, length, checksum. */
const headOctets = mark.length + 4 + checksumOctets;

/** A payload with mark, length and checksum before it. */
export function composeJournalRecord(payload: Uint8Array): Uint8Array {
  const writer = new OctetWriter(headOctets + payload.length);
  writer.octets(mark);
  writer.uint32(payload.length);
  writer.octets(checksumOf(payload));
  writer.octets(payload);
  return writer.take();
}

/** Reads the records of a journal one by one, until the end or to the first that is not whole. */
export class JournalRecords {
  readonly #octets: Uint8Array;
  #wholeOctets = 0;

  constructor(octets: Uint8Array) {
    this.#octets = octets;
  }

  /** Octets of the whole records so far: where the next one starts. */
  get wholeOctets(): number {
    return this.#wholeOctets;
  }

  /** The payload of the next record, or `undefined` where no whole one follows. */
  next(): Uint8Array | undefined {
    const payload = readRecordAt(this.#octets, this.#wholeOctets);
    if (payload !== undefined) this.#wholeOctets += headOctets + payload.length;
    return payload;
  }

  /**
   * Whether whole records follow behind what is no record: a crash tears only the end of the file off, so then something
   * was overwritten. To be asked at the end.
   */
  get isDamaged(): boolean {
    const octets = this.#octets;
    for (let at = this.#wholeOctets + 1; at + headOctets <= octets.length; at++) {
      if (octets[at] === mark[0] && readRecordAt(octets, at) !== undefined) return true;
    }
    return false;
  }

  /** Octets behind the last whole record that are more than zeros, which are room made ahead. To be asked at the end. */
  get tornOctets(): number {
    const torn = this.#octets.subarray(this.#wholeOctets);
    return torn.some((octet) => octet !== 0) ? torn.length : 0;
  }
}

function readRecordAt(octets: Uint8Array, at: number): Uint8Array | undefined {
  if (at + headOctets > octets.length) return undefined;
  const reader = new OctetReader(octets, at);
  if (!equal(reader.take(mark.length), mark)) return undefined;
  const length = reader.uint32();
  const checksum = reader.take(checksumOctets);
  if (length > reader.remaining) return undefined;
  const payload = reader.take(length);
  return equal(checksum, checksumOf(payload)) ? payload : undefined;
}

function checksumOf(payload: Uint8Array): Uint8Array {
  return new Uint8Array(createHash("sha256").update(payload).digest()).subarray(0, checksumOctets);
}

function equal(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((octet, index) => octet === right[index]);
}
