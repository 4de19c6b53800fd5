import { createHash } from "node:crypto";
import { OctetReader, OctetWriter } from "../message/octets.ts";

/** `MUJ1` in ASCII: where a record starts, so that whole ones can be found behind damage. */
const mark = Uint8Array.of(0x4d, 0x55, 0x4a, 0x31);
const checksumOctets = 8;
/** Mark, length, checksum. */
const headOctets = mark.length + 4 + checksumOctets;

/** What reading a journal came to: its records, and where reading ended. */
export interface JournalContent {
  readonly payloads: readonly Uint8Array[];
  /** Octets of whole records from the start. */
  readonly wholeOctets: number;
  /** Set when whole records follow behind what is no record: then something was overwritten, not just cut off. */
  readonly damagedAt: number | undefined;
}

/** A payload with mark, length and checksum before it. */
export function composeJournalRecord(payload: Uint8Array): Uint8Array {
  const writer = new OctetWriter(headOctets + payload.length);
  writer.octets(mark);
  writer.uint32(payload.length);
  writer.octets(checksumOf(payload));
  writer.octets(payload);
  return writer.take();
}

/** Reads records until the end or to the first that is not whole. Pure. */
export function readJournalRecords(octets: Uint8Array): JournalContent {
  const payloads: Uint8Array[] = [];
  let at = 0;
  while (at < octets.length) {
    const payload = readRecordAt(octets, at);
    if (payload === undefined) return { payloads, wholeOctets: at, damagedAt: damagedAt(octets, at) };
    payloads.push(payload);
    at += headOctets + payload.length;
  }
  return { payloads, wholeOctets: at, damagedAt: undefined };
}

/** A crash tears only the end of the file off, so a whole record further on shows another kind of damage. */
function damagedAt(octets: Uint8Array, from: number): number | undefined {
  for (let at = from + 1; at + headOctets <= octets.length; at++) {
    if (octets[at] === mark[0] && readRecordAt(octets, at) !== undefined) return from;
  }
  return undefined;
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
