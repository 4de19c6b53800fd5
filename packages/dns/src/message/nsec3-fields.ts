import { DnsError } from "../dns-error.ts";
import { octetsFromHex, octetsToHex, type RdataField } from "./rdata-field.ts";

const digits = "0123456789abcdefghijklmnopqrstuv";

/** A salt after its length; `-` is none (RFC 5155 §3.3). */
export const salt: RdataField = {
  fromText(words, writer) {
    const { text } = words.next("a salt");
    const octets = text === "-" ? new Uint8Array() : octetsFromHex(text);
    if (octets.length > 255) throw new DnsError("BadRecord", "a salt is over 255 octets; use none");
    writer.uint8(octets.length);
    writer.octets(octets);
  },
  toText(reader) {
    const octets = reader.take(reader.uint8());
    return octets.length === 0 ? "-" : octetsToHex(octets);
  },
};

/** A hash after its length, in base32 (RFC 5155 §3.3). */
export const hashedName: RdataField = {
  fromText(words, writer) {
    const octets = octetsFromBase32Hex(words.next("a hash").text);
    writer.uint8(octets.length);
    writer.octets(octets);
  },
  toText: (reader) => octetsToBase32Hex(reader.take(reader.uint8())),
};

/** Base32 with the alphabet that keeps the order of what it stands for (RFC 4648 §7), in lower case, without padding. */
export function octetsToBase32Hex(octets: Uint8Array): string {
  let text = "";
  let held = 0;
  let bits = 0;
  for (const octet of octets) {
    held = ((held << 8) | octet) & 0xfff;
    for (bits += 8; bits >= 5; bits -= 5) text += digits[(held >>> (bits - 5)) & 31]!;
  }
  return bits === 0 ? text : text + digits[(held << (5 - bits)) & 31]!;
}

function octetsFromBase32Hex(text: string): Uint8Array {
  const octets = new Uint8Array((text.length * 5) >>> 3);
  let held = 0;
  let bits = 0;
  let at = 0;
  for (const character of text.toLowerCase()) {
    const value = digits.indexOf(character);
    if (value < 0) break;
    held = ((held << 5) | value) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    octets[at++] = held >>> bits;
  }
  if (at !== octets.length || at === 0 || at > 255 || octetsToBase32Hex(octets) !== text.toLowerCase())
    throw new DnsError("BadRecord", `${JSON.stringify(text.slice(0, 80))} is not a hash in base32`);
  return octets;
}
