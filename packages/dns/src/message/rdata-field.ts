import { DnsError } from "../dns-error.ts";
import { ipv4FromText, ipv4ToText, ipv6FromText, ipv6ToText } from "../name/address.ts";
import { nameFromText, nameToAbsoluteText, type Name } from "../name/name.ts";
import { typeFromText, typeToText } from "./codes.ts";
import type { OctetReader, OctetWriter } from "./octets.ts";
import { octetsFromText, octetsToQuotedText, octetsToText, type TextToken } from "./rdata-text.ts";
import { readName } from "./wire-name.ts";

/** The words of one record, read from the left, and what relative names in them are relative to. */
export interface RdataWords {
  /** @throws DnsError `BadRecord` when there is none left */
  next(what: string): TextToken;
  rest(): TextToken[];
  readonly origin: Name | undefined;
}

/** One field of rdata, both ways. */
export interface RdataField {
  fromText(words: RdataWords, writer: OctetWriter): void;
  toText(reader: OctetReader): string;
  /** Set for names: whether messages may compress it (RFC 3597 §4 allows that to the types of RFC 1035 only). */
  readonly name?: "compressible" | "plain";
  /** Set where no octets have no text that `fromText` would take: digests, keys, signatures. */
  readonly needsText?: true;
}

export const uint8: RdataField = integer(8);
export const uint16: RdataField = integer(16);
export const uint32: RdataField = integer(32);
export const compressibleName: RdataField = domainName("compressible");
export const plainName: RdataField = domainName("plain");

export const ipv4: RdataField = {
  fromText(words, writer) {
    const { text } = words.next("an IPv4 address");
    const octets = ipv4FromText(text);
    if (octets === undefined) throw bad(text, "is not an IPv4 address; write it as 192.0.2.1");
    writer.octets(octets);
  },
  toText: (reader) => ipv4ToText(reader.take(4)),
};

export const ipv6: RdataField = {
  fromText(words, writer) {
    const { text } = words.next("an IPv6 address");
    const octets = ipv6FromText(text);
    if (octets === undefined) throw bad(text, "is not an IPv6 address; write it as 2001:db8::1");
    writer.octets(octets);
  },
  toText: (reader) => ipv6ToText(reader.take(16)),
};

/** A text of at most 255 octets (RFC 1035 §3.3). */
export const characterString: RdataField = {
  fromText: (words, writer) => writeString(words.next("a text").text, writer),
  toText: (reader) => octetsToQuotedText(reader.take(reader.uint8())),
};

/** One or more character strings, to the end. */
export const characterStrings: RdataField = {
  fromText(words, writer) {
    writeString(words.next("a text").text, writer);
    for (const { text } of words.rest()) writeString(text, writer);
  },
  toText(reader) {
    const strings = [octetsToQuotedText(reader.take(reader.uint8()))];
    while (reader.remaining > 0) strings.push(octetsToQuotedText(reader.take(reader.uint8())));
    return strings.join(" ");
  },
};

/** Octets to the end, written as one quoted text: CAA values, URI targets. */
export const longText: RdataField = {
  fromText: (words, writer) => writer.octets(octetsFromText(words.next("a text").text)),
  toText: (reader) => octetsToQuotedText(reader.rest()),
};

/** A CAA tag: letters and digits with a length octet, never quoted (RFC 8659 §4.1). */
export const caaTag: RdataField = {
  fromText(words, writer) {
    const { text } = words.next("a tag");
    if (!caaTagText.test(text)) throw bad(text, "is not a CAA tag; write issue, issuewild or iodef");
    writeString(text, writer);
  },
  toText(reader) {
    const text = octetsToText(reader.take(reader.uint8()));
    if (!caaTagText.test(text))
      throw new DnsError("BadMessage", `a CAA tag is ${JSON.stringify(text)}, not letters and digits`);
    return text;
  },
};

const caaTagText = /^[0-9A-Za-z]{1,255}$/;

/** Octets to the end, in hexadecimal digits that may have blanks between them. */
export const hexRest: RdataField = {
  fromText(words, writer) {
    const first = words.next("hexadecimal digits").text;
    const text =
      first +
      words
        .rest()
        .map((token) => token.text)
        .join("");
    writer.octets(octetsFromHex(text));
  },
  toText: (reader) => octetsToHex(reader.rest()),
  needsText: true,
};

/** Octets to the end, in base64 that may have blanks between. */
export const base64Rest: RdataField = {
  fromText(words, writer) {
    const first = words.next("base64 text").text;
    writer.octets(
      octetsFromBase64(
        first +
          words
            .rest()
            .map((token) => token.text)
            .join(""),
      ),
    );
  },
  toText: (reader) => octetsToBase64(reader.rest()),
  needsText: true,
};

/** A record type by its mnemonic, as RRSIG has it. */
export const typeField: RdataField = {
  fromText: (words, writer) => writer.uint16(typeFromText(words.next("a record type").text)),
  toText: (reader) => typeToText(reader.uint16()),
};

/** A moment as RRSIG writes it: YYYYMMDDHHmmSS or seconds, 32 bits (RFC 4034 §3.2). */
export const moment: RdataField = {
  fromText(words, writer) {
    const { text } = words.next("a time");
    const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(text);
    if (parts !== null) {
      const [year, month, day, hour, minute, second] = parts.slice(1).map(Number);
      writer.uint32((Date.UTC(year!, month! - 1, day, hour, minute, second) / 1000) >>> 0);
      return;
    }
    writer.uint32(readInteger(text, 32));
  },
  toText: (reader) => new Date(reader.uint32() * 1000).toISOString().replace(/[-:T]|\.000Z/g, ""),
};

/** The set of types in NSEC (RFC 4034 §4.1.2). */
export const typeBitmap: RdataField = {
  fromText(words, writer) {
    const types = [...new Set(words.rest().map((token) => typeFromText(token.text)))].sort((a, b) => a - b);
    for (let at = 0; at < types.length;) {
      const window = types[at]! >>> 8;
      const bits = new Uint8Array(32);
      let length = 0;
      for (; at < types.length && types[at]! >>> 8 === window; at++) {
        const low = types[at]! & 0xff;
        bits[low >>> 3]! |= 0x80 >>> (low & 7);
        length = (low >>> 3) + 1;
      }
      writer.uint8(window);
      writer.uint8(length);
      writer.octets(bits.subarray(0, length));
    }
  },
  toText(reader) {
    const types: string[] = [];
    let last = -1;
    while (reader.remaining > 0) {
      const window = reader.uint8();
      const length = reader.uint8();
      if (window <= last || length === 0 || length > 32)
        throw new DnsError("BadMessage", `a type bitmap has a block ${window} of ${length} octets`);
      last = window;
      const bits = reader.take(length);
      if (bits.at(-1) === 0)
        throw new DnsError("BadMessage", `a type bitmap has a block ${window} that ends with no type`);
      for (let bit = 0; bit < bits.length * 8; bit++) {
        if ((bits[bit >>> 3]! & (0x80 >>> (bit & 7))) !== 0) types.push(typeToText((window << 8) | bit));
      }
    }
    return types.join(" ");
  },
};

/** @throws DnsError `BadRecord` */
export function octetsFromHex(text: string): Uint8Array {
  if (text.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(text))
    throw bad(text, "is not a whole number of hexadecimal octets");
  return Uint8Array.from({ length: text.length / 2 }, (_, index) =>
    Number.parseInt(text.slice(2 * index, 2 * index + 2), 16),
  );
}

/** Hexadecimal digits in lower case, two for each octet. */
export function octetsToHex(octets: Uint8Array): string {
  let text = "";
  for (const octet of octets) text += octet.toString(16).padStart(2, "0");
  return text;
}

/** @throws DnsError `BadRecord` */
export function octetsFromBase64(text: string): Uint8Array {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) throw bad(text, "is not base64");
  const binary = atob(text);
  const octets = new Uint8Array(binary.length);
  for (let index = 0; index < octets.length; index++) octets[index] = binary.charCodeAt(index);
  return octets;
}

/** Base64 with padding (RFC 4648 §4). */
export function octetsToBase64(octets: Uint8Array): string {
  let text = "";
  for (const octet of octets) text += String.fromCharCode(octet);
  return btoa(text);
}

/** @throws DnsError `BadRecord` */
export function readInteger(text: string, bits: 8 | 16 | 32): number {
  const value = /^[0-9]{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value < 2 ** bits)) throw bad(text, `is not an integer from 0 to ${2 ** bits - 1}`);
  return value;
}

function integer(bits: 8 | 16 | 32): RdataField {
  return {
    fromText(words, writer) {
      const value = readInteger(words.next("a number").text, bits);
      if (bits === 8) writer.uint8(value);
      else if (bits === 16) writer.uint16(value);
      else writer.uint32(value);
    },
    toText: (reader) => String(bits === 8 ? reader.uint8() : bits === 16 ? reader.uint16() : reader.uint32()),
  };
}

function domainName(name: "compressible" | "plain"): RdataField {
  return {
    name,
    fromText: (words, writer) => writer.octets(nameFromText(words.next("a domain name").text, words.origin)),
    toText: (reader) => nameToAbsoluteText(readName(reader)),
  };
}

function writeString(text: string, writer: OctetWriter): void {
  const octets = octetsFromText(text);
  if (octets.length > 255) throw bad(text, "is over 255 octets; split it into several quoted texts");
  writer.uint8(octets.length);
  writer.octets(octets);
}

function bad(text: string, problem: string): DnsError {
  return new DnsError(
    "BadRecord",
    `${JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}...` : text)} ${problem}`,
  );
}
