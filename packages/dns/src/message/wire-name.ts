import { DnsError } from "../dns-error.ts";
import { nameOctetsMax, type Name } from "../name/name.ts";
import { headerOctets } from "./header.ts";
import type { OctetReader, OctetWriter } from "./octets.ts";

/**
 * Reads a name, following compression pointers, and leaves the reader behind it.
 *
 * A pointer must point before the start of the labels that hold it (RFC 1035 §4.1.4: a *prior* occurrence), so every
 * hop goes strictly back and loops cannot be; and the name ends at 255 octets, so no hop counter is needed.
 *
 * @throws DnsError `BadMessage`
 */
export function readName(reader: OctetReader): Name {
  const { octets, end } = reader;
  const name = new Uint8Array(nameOctetsMax);
  let length = 0;
  let at = reader.at;
  let runStart = at;
  let jumped = false;
  for (;;) {
    if (at >= end) throw new DnsError("BadMessage", `a name runs past the end at ${at}`);
    const octet = octets[at]!;
    if (octet >= 0xc0) {
      if (at + 1 >= end) throw new DnsError("BadMessage", `a compression pointer is cut at ${at}`);
      const target = ((octet & 0x3f) << 8) | octets[at + 1]!;
      if (target >= runStart || target < headerOctets) {
        throw new DnsError("BadMessage", `the compression pointer at ${at} does not point back to a name`);
      }
      if (!jumped) reader.at = at + 2;
      jumped = true;
      at = target;
      runStart = target;
      continue;
    }
    if (octet > 63) throw new DnsError("BadMessage", `reserved label type at ${at}`);
    if (length + octet + 1 > nameOctetsMax)
      throw new DnsError("BadMessage", `a name is over ${nameOctetsMax} octets`);
    if (at + 1 + octet > end) throw new DnsError("BadMessage", `a label runs past the end at ${at}`);
    name.set(octets.subarray(at, at + 1 + octet), length);
    length += octet + 1;
    at += octet + 1;
    if (octet !== 0) continue;
    if (!jumped) reader.at = at;
    return name.slice(0, length);
  }
}

/** The offset behind a name that may be compressed, in a message that is known to be well-formed: one of our own. */
export function skipName(message: Uint8Array, from: number): number {
  let at = from;
  while (at < message.length) {
    const length = message[at]!;
    if (length === 0) return at + 1;
    if (length >= 0xc0) return at + 2;
    at += length + 1;
  }
  return at;
}

/** Remembers where names were written in one message, to point there again. */
export class NameCompressor {
  readonly #offsets = new Map<string, number>();

  /** Writes a name, as short as earlier ones allow. */
  write(writer: OctetWriter, name: Name): void {
    for (let at = 0; ; at += name[at]! + 1) {
      if (name[at] === 0) {
        writer.uint8(0);
        return;
      }
      // Only names of the same case share octets: a name must come out as it was put in.
      const key = String.fromCharCode(...name.subarray(at));
      const offset = this.#offsets.get(key);
      if (offset !== undefined) {
        writer.uint16(0xc000 | offset);
        return;
      }
      // A pointer has 14 bits: what stands further back cannot be pointed to.
      if (writer.length < 0x4000) this.#offsets.set(key, writer.length);
      writer.octets(name.subarray(at, at + 1 + name[at]!));
    }
  }
}
