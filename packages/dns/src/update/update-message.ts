import { rcode } from "../message/header.ts";
import { OctetReader } from "../message/octets.ts";
import { rdataInMessageToWire } from "../message/rdata.ts";
import { readRecordFields } from "../message/record-fields.ts";
import { typeSoa } from "../message/type-numbers.ts";
import { readName } from "../message/wire-name.ts";
import type { Name } from "../name/name.ts";

/** A record of an UPDATE. Its class says what it means (RFC 2136 §2.4 and §2.5). */
export interface UpdateRecord {
  readonly owner: Name;
  readonly type: number;
  readonly class: number;
  readonly ttl: number;
  /** Names in it written out. */
  readonly rdata: Uint8Array;
}

/** The sections of an UPDATE (RFC 2136 §2). */
export interface UpdateMessage {
  readonly zone: Name;
  readonly prerequisites: readonly UpdateRecord[];
  readonly updates: readonly UpdateRecord[];
}

/** Classes that are meanings: IN is a value, ANY and NONE are about what there is (RFC 2136 §2.4). */
export const updateClass = { in: 1, none: 254, any: 255 } as const;

/** Reads an UPDATE; a number is the rcode to answer it with. */
export function readUpdate(message: Uint8Array): UpdateMessage | number {
  try {
    const reader = new OctetReader(message);
    reader.take(4);
    const zones = reader.uint16();
    const prerequisiteCount = reader.uint16();
    const updateCount = reader.uint16();
    reader.take(2);
    // RFC 2136 §3.1.1: one zone, asked as SOA.
    if (zones !== 1) return rcode.formErr;
    const zone = readName(reader);
    if (reader.uint16() !== typeSoa) return rcode.formErr;
    if (reader.uint16() !== updateClass.in) return rcode.notAuth;
    return {
      zone,
      prerequisites: readRecords(reader, prerequisiteCount, [updateClass.any, updateClass.none]),
      // Here NONE deletes one record, so its data must be that of a record.
      updates: readRecords(reader, updateCount, [updateClass.any]),
    };
  } catch {
    return rcode.formErr;
  }
}

/** @param classesWithoutData whose records may have none, whatever their type */
function readRecords(
  reader: OctetReader,
  count: number,
  classesWithoutData: readonly number[],
): UpdateRecord[] {
  const records: UpdateRecord[] = [];
  for (let index = 0; index < count; index++) {
    const owner = readName(reader);
    const { type, class: recordClass, ttl, rdata: octets } = readRecordFields(reader);
    const rdata =
      octets.remaining === 0 && classesWithoutData.includes(recordClass)
        ? new Uint8Array()
        : rdataInMessageToWire(type, octets);
    records.push({ owner, type, class: recordClass, ttl, rdata });
  }
  return records;
}
