import { headerOctets } from "../message/header.ts";
import { OctetReader } from "../message/octets.ts";
import { typeSoa } from "../message/type-numbers.ts";
import { readName } from "../message/wire-name.ts";
import { foldName, nameToText } from "../name/name.ts";

/**
 * Reads the zone of a NOTIFY and, where `answersAt` is the place of a record, the SOA there (RFC 1996 §3.7). An SOA
 * that is malformed or of another name is no SOA: it would only have been a hint.
 */
export function readNotifySoa(
  message: Uint8Array,
  answersAt: number,
): { readonly zone: string; readonly soa?: { readonly serial: number; readonly mname: string } } {
  const zone = nameToText(foldName(readName(new OctetReader(message, headerOctets))));
  if (answersAt < 0) return { zone };
  try {
    const reader = new OctetReader(message, answersAt);
    const owner = nameToText(foldName(readName(reader)));
    const type = reader.uint16();
    // Class, TTL and length.
    reader.take(8);
    if (type !== typeSoa || owner !== zone) return { zone };
    const mname = nameToText(foldName(readName(reader)));
    readName(reader);
    return { zone, soa: { serial: reader.uint32(), mname } };
  } catch {
    return { zone };
  }
}
