import { headerOctets } from "../message/header.ts";
import { OctetReader, OctetWriter } from "../message/octets.ts";
import { typeTsig } from "../message/type-numbers.ts";
import { readName } from "../message/wire-name.ts";
import type { Name } from "../name/name.ts";

/** The fields of a TSIG record (RFC 8945 §4.2). */
export interface TsigFields {
  readonly keyName: Name;
  readonly algorithm: Name;
  /** Seconds since the epoch, 48 bits. */
  readonly timeSigned: number;
  /** In seconds. */
  readonly fudge: number;
  readonly mac: Uint8Array;
  readonly originalId: number;
  readonly error: number;
  readonly otherData: Uint8Array;
}

/** A TSIG record that stands in a message. */
export interface TsigRecord extends TsigFields {
  /** Where it starts: the message without it ends here. */
  readonly at: number;
}

/** What looking for the signature of a message came to. */
export type TsigSearch =
  | { readonly kind: "none" }
  | { readonly kind: "malformed" }
  | { readonly kind: "found"; readonly record: TsigRecord };

const classAny = 255;

/** Finds the TSIG record, which must be the last thing in the message and the only one (RFC 8945 §5.1). Never throws. */
export function findTsig(message: Uint8Array): TsigSearch {
  try {
    const reader = new OctetReader(message);
    reader.take(4);
    const questions = reader.uint16();
    const others = reader.uint16() + reader.uint16();
    const total = others + reader.uint16();
    for (let index = 0; index < questions; index++) {
      skipName(reader);
      reader.take(4);
    }
    for (let index = 0; index < total; index++) {
      const at = reader.at;
      skipName(reader);
      const isTsig = reader.uint16() === typeTsig;
      reader.take(6);
      reader.take(reader.uint16());
      if (!isTsig) continue;
      if (index < others || index !== total - 1 || reader.remaining > 0) return { kind: "malformed" };
      return readTsig(message, at);
    }
    return { kind: "none" };
  } catch {
    return { kind: "malformed" };
  }
}

/** A copy of a message that ends in TSIG without it: as it was before it was signed, but for the id. */
export function stripTsig(message: Uint8Array, { at }: TsigRecord): Uint8Array {
  const stripped = message.slice(0, at);
  addToAdditional(stripped, -1);
  return stripped;
}

/** A copy of a message with a TSIG record behind it. */
export function appendTsig(message: Uint8Array, fields: TsigFields): Uint8Array {
  const writer = new OctetWriter();
  writer.octets(message);
  writer.octets(fields.keyName);
  writer.uint16(typeTsig);
  writer.uint16(classAny);
  writer.uint32(0);
  const lengthAt = writer.length;
  writer.uint16(0);
  writer.octets(fields.algorithm);
  writeTimers(writer, fields);
  writer.uint16(fields.mac.length);
  writer.octets(fields.mac);
  writer.uint16(fields.originalId);
  writer.uint16(fields.error);
  writer.uint16(fields.otherData.length);
  writer.octets(fields.otherData);
  writer.patchUint16(lengthAt, writer.length - lengthAt - 2);
  const signed = writer.take();
  addToAdditional(signed, 1);
  return signed;
}

/** Octets of a TSIG record with these names, MAC and other data. */
export function tsigOctets(fields: {
  readonly keyName: Name;
  readonly algorithm: Name;
  readonly macOctets: number;
  readonly otherOctets: number;
}): number {
  return fields.keyName.length + 10 + fields.algorithm.length + 16 + fields.macOctets + fields.otherOctets;
}

/** Time signed in 48 bits, and fudge. */
export function writeTimers(
  writer: OctetWriter,
  { timeSigned, fudge }: Pick<TsigFields, "timeSigned" | "fudge">,
): void {
  writeUint48(writer, timeSigned);
  writer.uint16(fudge);
}

export function writeUint48(writer: OctetWriter, value: number): void {
  writer.uint16(Math.floor(value / 0x1_0000_0000) & 0xffff);
  writer.uint32(value % 0x1_0000_0000);
}

export function readUint48(reader: OctetReader): number {
  return reader.uint16() * 0x1_0000_0000 + reader.uint32();
}

function readTsig(message: Uint8Array, at: number): TsigSearch {
  const reader = new OctetReader(message, at);
  const keyName = readName(reader);
  reader.uint16();
  const recordClass = reader.uint16();
  const ttl = reader.uint32();
  reader.uint16();
  if (recordClass !== classAny || ttl !== 0) return { kind: "malformed" };
  const algorithm = readName(reader);
  const timeSigned = readUint48(reader);
  const fudge = reader.uint16();
  const mac = reader.take(reader.uint16()).slice();
  const originalId = reader.uint16();
  const error = reader.uint16();
  const otherData = reader.take(reader.uint16()).slice();
  if (reader.remaining > 0) return { kind: "malformed" };
  return {
    kind: "found",
    record: { at, keyName, algorithm, timeSigned, fudge, mac, originalId, error, otherData },
  };
}

/** Passes a name without following pointers, as none is needed to find the end. */
function skipName(reader: OctetReader): void {
  for (;;) {
    const octet = reader.uint8();
    if (octet === 0) return;
    if (octet >= 0xc0) {
      reader.uint8();
      return;
    }
    reader.take(octet);
  }
}

function addToAdditional(message: Uint8Array, change: number): void {
  const at = headerOctets - 2;
  const count = ((message[at]! << 8) | message[at + 1]!) + change;
  message[at] = count >>> 8;
  message[at + 1] = count;
}
