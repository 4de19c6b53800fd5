import { OctetReader, OctetWriter } from "../message/octets.ts";
import { typeSoa } from "../message/type-numbers.ts";
import { readName } from "../message/wire-name.ts";
import { nameFromText, nameToText } from "../name/name.ts";
import type { WireRecord } from "../zone/wire-record.ts";
import type { ZoneSoa } from "../zone/zone-apex.ts";

/** The serial of an SOA record: the first of the five numbers that its rdata ends with (RFC 1035 §3.3.13). */
export function soaSerial({ rdata }: WireRecord): number {
  const at = rdata.length - 20;
  return ((rdata[at]! << 24) | (rdata[at + 1]! << 16) | (rdata[at + 2]! << 8) | rdata[at + 3]!) >>> 0;
}

/** The fields of an SOA record. @throws DnsError `BadMessage` */
export function soaFromRecord({ rdata, ttl }: WireRecord): ZoneSoa {
  const reader = new OctetReader(rdata);
  const mname = nameToText(readName(reader));
  const rname = nameToText(readName(reader));
  const serial = reader.uint32();
  const refresh = reader.uint32();
  const retry = reader.uint32();
  const expire = reader.uint32();
  return { mname, rname, serial, refresh, retry, expire, minimum: reader.uint32(), ttl };
}

/** A zone's SOA record in wire form. @throws DnsError `BadName` */
export function soaToRecord(origin: string, soa: ZoneSoa): WireRecord {
  const writer = new OctetWriter();
  writer.octets(nameFromText(soa.mname));
  writer.octets(nameFromText(soa.rname));
  for (const number of [soa.serial, soa.refresh, soa.retry, soa.expire, soa.minimum]) writer.uint32(number);
  return { owner: nameFromText(origin), type: typeSoa, ttl: soa.ttl, rdata: writer.take() };
}
