import { DnsError } from "../dns-error.ts";
import { typeToText } from "../message/codes.ts";
import { OctetReader } from "../message/octets.ts";
import { rdataInMessageToWire } from "../message/rdata.ts";
import { readRecordFields } from "../message/record-fields.ts";
import { typeAny, typeMetaMin, typeOpt, typeTsig } from "../message/type-numbers.ts";
import { readName } from "../message/wire-name.ts";
import type { Name } from "../name/name.ts";
import type { WireRecord } from "../zone/wire-record.ts";
import type { OctetPool } from "./octet-pool.ts";

/** What a transfer needs of one of its messages. */
export interface TransferMessage {
  readonly rcode: number;
  readonly truncated: boolean;
  /** The answer section. */
  readonly records: readonly WireRecord[];
}

const classIn = 1;

/**
 * Reads one message of a transfer: its answer section in wire form. The other sections are only checked for being
 * complete. What is kept of it comes from the pool, so the message may be reused.
 *
 * @throws DnsError `BadMessage` also for records that no zone can have
 */
export function readTransferMessage(octets: Uint8Array, pool: OctetPool): TransferMessage {
  const reader = new OctetReader(octets);
  reader.take(2);
  const flags = reader.uint16();
  const [questions, answers, authority, additional] = [
    reader.uint16(),
    reader.uint16(),
    reader.uint16(),
    reader.uint16(),
  ];
  for (let index = 0; index < questions; index++) {
    readName(reader);
    reader.take(4);
  }
  const records: WireRecord[] = [];
  const names: KnownNames = { pool, byPlace: new Map() };
  for (let index = 0; index < answers; index++) records.push(readRecord(reader, names));
  for (let index = 0; index < authority + additional; index++) {
    readName(reader);
    reader.take(8);
    reader.take(reader.uint16());
  }
  return { rcode: flags & 15, truncated: (flags & 0x0200) !== 0, records };
}

/** Owners by the place that a pointer gave: the records of one owner then share one name. */
interface KnownNames {
  readonly pool: OctetPool;
  readonly byPlace: Map<number, Name>;
}

function readOwner(reader: OctetReader, { pool, byPlace }: KnownNames): Name {
  const { octets, at } = reader;
  const isPointer = at + 1 < reader.end && octets[at]! >= 0xc0;
  const place = isPointer ? ((octets[at]! & 0x3f) << 8) | octets[at + 1]! : at;
  // A known place was read before, so it is behind this one, as it must be.
  const known = isPointer ? byPlace.get(place) : undefined;
  if (known !== undefined) {
    reader.at += 2;
    return known;
  }
  const owner = pool.keep(readName(reader));
  byPlace.set(place, owner);
  return owner;
}

function readRecord(reader: OctetReader, names: KnownNames): WireRecord {
  const owner = readOwner(reader, names);
  const { type, class: recordClass, ttl, rdata } = readRecordFields(reader);
  if (type === 0 || type === typeOpt || type === typeTsig || (type >= typeMetaMin && type <= typeAny))
    throw new DnsError("BadMessage", `${typeToText(type)} is no zone data; the sender is broken`);
  if (recordClass !== classIn)
    throw new DnsError("BadMessage", `a record of class ${recordClass} is in a transfer of class IN`);
  return { owner, type, ttl, rdata: names.pool.keep(rdataInMessageToWire(type, rdata)) };
}
