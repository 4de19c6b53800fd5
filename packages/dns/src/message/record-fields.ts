import { OctetReader } from "./octets.ts";

/** What stands behind the owner of a record in a message (RFC 1035 §4.1.3). */
export interface RecordFields {
  readonly type: number;
  readonly class: number;
  /** In seconds; one with its highest bit set counts as 0 (RFC 2181 §8). */
  readonly ttl: number;
  /** Reads the rdata, and no further; pointers in it lead into the whole message. */
  readonly rdata: OctetReader;
}

/** Reads them, and goes on behind the record. @throws DnsError `BadMessage` where it is cut short */
export function readRecordFields(reader: OctetReader): RecordFields {
  const type = reader.uint16();
  const recordClass = reader.uint16();
  const ttl = reader.uint32();
  const length = reader.uint16();
  const start = reader.at;
  reader.take(length);
  return {
    type,
    class: recordClass,
    ttl: ttl > 0x7fff_ffff ? 0 : ttl,
    rdata: new OctetReader(reader.octets, start, start + length),
  };
}
