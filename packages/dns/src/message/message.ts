import { DnsError } from "../dns-error.ts";
import { nameFromText, nameToText } from "../name/name.ts";
import { typeFromText, typeToText } from "./codes.ts";
import { OctetReader, OctetWriter } from "./octets.ts";
import { rdataFromText, rdataInMessageToText, rdataNames } from "./rdata.ts";
import type { ResourceRecord } from "./resource-record.ts";
import { typeOpt } from "./type-numbers.ts";
import { NameCompressor, readName } from "./wire-name.ts";

/** A message as an object: for tests and the slow path. The server answers without making one. */
export interface Message {
  readonly id: number;
  /** 0 QUERY, 4 NOTIFY, 5 UPDATE. */
  readonly opcode: number;
  /** QR. */
  readonly response: boolean;
  readonly authoritative: boolean;
  readonly truncated: boolean;
  readonly recursionDesired: boolean;
  readonly recursionAvailable: boolean;
  readonly authenticData: boolean;
  readonly checkingDisabled: boolean;
  /** 12 bits: EDNS gives the upper 8. */
  readonly rcode: number;
  readonly questions: readonly Question[];
  readonly answers: readonly MessageRecord[];
  readonly authority: readonly MessageRecord[];
  /** Without the OPT record, which is `edns`. */
  readonly additional: readonly MessageRecord[];
  readonly edns?: Edns;
}

/** One entry of the question section (RFC 1035 §4.1.2). */
export interface Question {
  readonly name: string;
  readonly type: string;
  /** 1 is IN. */
  readonly class: number;
}

/** A record with its class, which is IN (1) in all but special messages. */
export interface MessageRecord extends ResourceRecord {
  readonly class: number;
}

/** What the OPT record says (RFC 6891 §6.1). */
export interface Edns {
  readonly payloadSize: number;
  readonly version: number;
  readonly dnssecOk: boolean;
  readonly options: readonly { readonly code: number; readonly octets: Uint8Array }[];
}

/**
 * Reads a message strictly: sections complete, names valid, nothing allocated from a counter.
 * Octets after the last record are ignored.
 *
 * @throws DnsError `BadMessage`
 */
export function parseMessage(octets: Uint8Array): Message {
  const reader = new OctetReader(octets);
  const id = reader.uint16();
  const flags = reader.uint16();
  const counts = [reader.uint16(), reader.uint16(), reader.uint16(), reader.uint16()] as const;
  const questions: Question[] = [];
  for (let index = 0; index < counts[0]; index++) {
    questions.push({
      name: nameToText(readName(reader)),
      type: typeToText(reader.uint16()),
      class: reader.uint16(),
    });
  }
  let edns: Edns | undefined;
  let extendedRcode = 0;
  const sections = counts.slice(1).map((count, section) => {
    const records: MessageRecord[] = [];
    for (let index = 0; index < count; index++) {
      const name = readName(reader);
      const type = reader.uint16();
      if (type !== typeOpt) {
        records.push(readRecord(reader, { name: nameToText(name), type }));
        continue;
      }
      if (section !== 2 || edns !== undefined || name[0] !== 0)
        throw new DnsError("BadMessage", "misplaced OPT record");
      const opt = readOpt(reader);
      edns = opt.edns;
      extendedRcode = opt.extendedRcode;
    }
    return records;
  });
  return {
    id,
    opcode: (flags >>> 11) & 15,
    response: (flags & 0x8000) !== 0,
    authoritative: (flags & 0x0400) !== 0,
    truncated: (flags & 0x0200) !== 0,
    recursionDesired: (flags & 0x0100) !== 0,
    recursionAvailable: (flags & 0x0080) !== 0,
    authenticData: (flags & 0x0020) !== 0,
    checkingDisabled: (flags & 0x0010) !== 0,
    rcode: (flags & 15) | (extendedRcode << 4),
    questions,
    answers: sections[0]!,
    authority: sections[1]!,
    additional: sections[2]!,
    ...(edns === undefined ? {} : { edns }),
  };
}

/** Writes a message with compressed names. Absent fields are zero, false or empty. @throws DnsError */
export function composeMessage(message: Partial<Message>): Uint8Array {
  const writer = new OctetWriter();
  const compressor = new NameCompressor();
  const flag = (set: boolean | undefined, bit: number): number => (set === true ? bit : 0);
  const { questions = [], answers = [], authority = [], additional = [], edns, rcode = 0 } = message;
  writer.uint16(message.id ?? 0);
  writer.uint16(
    flag(message.response, 0x8000) |
      ((message.opcode ?? 0) << 11) |
      flag(message.authoritative, 0x0400) |
      flag(message.truncated, 0x0200) |
      flag(message.recursionDesired, 0x0100) |
      flag(message.recursionAvailable, 0x0080) |
      flag(message.authenticData, 0x0020) |
      flag(message.checkingDisabled, 0x0010) |
      (rcode & 15),
  );
  writer.uint16(questions.length);
  writer.uint16(answers.length);
  writer.uint16(authority.length);
  writer.uint16(additional.length + (edns === undefined ? 0 : 1));
  for (const question of questions) {
    compressor.write(writer, nameFromText(question.name));
    writer.uint16(typeFromText(question.type));
    writer.uint16(question.class);
  }
  for (const record of [...answers, ...authority, ...additional]) writeRecord(writer, { compressor, record });
  if (edns !== undefined) writeOpt(writer, { edns, rcode });
  return writer.take();
}

function readRecord(
  reader: OctetReader,
  { name, type }: { readonly name: string; readonly type: number },
): MessageRecord {
  const recordClass = reader.uint16();
  const ttl = reader.uint32();
  const length = reader.uint16();
  const start = reader.at;
  reader.take(length);
  // Prerequisites and deletions of RFC 2136 have types without data.
  const data =
    length === 0 && recordClass !== 1
      ? ""
      : rdataInMessageToText(type, new OctetReader(reader.octets, start, start + length));
  return { name, type: typeToText(type), class: recordClass, ttl, data };
}

function readOpt(reader: OctetReader): { edns: Edns; extendedRcode: number } {
  const payloadSize = reader.uint16();
  const extendedRcode = reader.uint8();
  const version = reader.uint8();
  const flags = reader.uint16();
  const end = reader.uint16() + reader.at;
  if (end > reader.end) throw new DnsError("BadMessage", "the OPT record is cut short");
  const options: { code: number; octets: Uint8Array }[] = [];
  const optionReader = new OctetReader(reader.octets, reader.at, end);
  while (optionReader.remaining > 0) {
    const code = optionReader.uint16();
    options.push({ code, octets: optionReader.take(optionReader.uint16()).slice() });
  }
  reader.at = end;
  return { edns: { payloadSize, version, dnssecOk: (flags & 0x8000) !== 0, options }, extendedRcode };
}

function writeRecord(
  writer: OctetWriter,
  { compressor, record }: { readonly compressor: NameCompressor; readonly record: MessageRecord },
): void {
  const type = typeFromText(record.type);
  compressor.write(writer, nameFromText(record.name));
  writer.uint16(type);
  writer.uint16(record.class);
  writer.uint32(record.ttl);
  const lengthAt = writer.length;
  writer.uint16(0);
  if (record.data !== "") {
    const rdata = rdataFromText(type, record.data);
    let copied = 0;
    for (const { at, name, compressible } of rdataNames(type, rdata)) {
      if (!compressible) continue;
      writer.octets(rdata.subarray(copied, at));
      compressor.write(writer, name);
      copied = at + name.length;
    }
    writer.octets(rdata.subarray(copied));
  }
  writer.patchUint16(lengthAt, writer.length - lengthAt - 2);
}

function writeOpt(
  writer: OctetWriter,
  { edns, rcode }: { readonly edns: Edns; readonly rcode: number },
): void {
  writer.uint8(0);
  writer.uint16(typeOpt);
  writer.uint16(edns.payloadSize);
  writer.uint8(rcode >>> 4);
  writer.uint8(edns.version);
  writer.uint16(edns.dnssecOk ? 0x8000 : 0);
  const lengthAt = writer.length;
  writer.uint16(0);
  for (const { code, octets } of edns.options) {
    writer.uint16(code);
    writer.uint16(octets.length);
    writer.octets(octets);
  }
  writer.patchUint16(lengthAt, writer.length - lengthAt - 2);
}
