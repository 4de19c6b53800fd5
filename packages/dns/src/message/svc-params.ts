import { DnsError } from "../dns-error.ts";
import { ipv4FromText, ipv4ToText, ipv6FromText, ipv6ToText } from "../name/address.ts";
import { OctetReader, OctetWriter, equalOctets } from "./octets.ts";
import { octetsFromBase64, octetsToBase64, readInteger, type RdataField } from "./rdata-field.ts";
import {
  octetsFromText,
  octetsToQuotedText,
  octetsToText,
  tokenizeRdata,
  type TextToken,
} from "./rdata-text.ts";

const keyNames = [
  "mandatory",
  "alpn",
  "no-default-alpn",
  "port",
  "ipv4hint",
  "ech",
  "ipv6hint",
  "dohpath",
  "ohttp",
];
const mandatoryKey = 0;

/** The parameters of SVCB and HTTPS records (RFC 9460 §2.1 and appendix A), sorted by key on the wire. */
export const svcParams: RdataField = {
  fromText: (words, writer) => writeParams(words.rest(), writer),
  toText(reader) {
    const start = reader.at;
    const params: string[] = [];
    let previous = -1;
    while (reader.remaining > 0) {
      const key = reader.uint16();
      if (key <= previous) throw new DnsError("BadMessage", "SVCB parameters are not in ascending order");
      previous = key;
      params.push(paramToText(key, reader.take(reader.uint16())));
    }
    const text = params.join(" ");
    checkReadsAgain(text, reader.octets.subarray(start, reader.at));
    return text;
  },
};

function writeParams(tokens: readonly TextToken[], writer: OctetWriter): void {
  const params = new Map<number, Uint8Array>();
  for (let index = 0; index < tokens.length; index++) {
    const { text } = tokens[index]!;
    const equals = text.indexOf("=");
    const keyText = equals < 0 ? text : text.slice(0, equals);
    let value = equals < 0 ? undefined : text.slice(equals + 1);
    // `alpn="h2,h3"`: the tokenizer ends the word at the quote.
    if (value === "" && tokens[index + 1]?.quoted === true) value = tokens[++index]!.text;
    const key = keyFromText(keyText);
    if (params.has(key)) throw bad(`parameter ${keyText} is given twice`);
    params.set(key, valueFromText(key, value));
  }
  checkMandatory(params);
  for (const [key, value] of [...params].sort(([left], [right]) => left - right)) {
    writer.uint16(key);
    writer.uint16(value.length);
    writer.octets(value);
  }
}

/** Empty lists, values where none belongs, mandatory keys that are absent: all that has no text (RFC 9460 §2.2). */
function checkReadsAgain(text: string, octets: Uint8Array): void {
  const writer = new OctetWriter();
  try {
    writeParams(tokenizeRdata(text), writer);
  } catch (error) {
    throw new DnsError("BadMessage", `SVCB parameters are malformed: ${text}`, { cause: error });
  }
  if (!equalOctets(writer.take(), octets))
    throw new DnsError("BadMessage", `SVCB parameters are not in the order of RFC 9460: ${text}`);
}

function keyFromText(text: string): number {
  const known = keyNames.indexOf(text.toLowerCase());
  if (known >= 0) return known;
  if (!/^key[0-9]{1,5}$/.test(text))
    throw bad(`parameter ${JSON.stringify(text)} is not known; write its number as keyNNN`);
  return readInteger(text.slice(3), 16);
}

function keyToText(key: number): string {
  return keyNames[key] ?? `key${key}`;
}

function valueFromText(key: number, value: string | undefined): Uint8Array {
  const name = keyToText(key);
  if (name === "no-default-alpn" || name === "ohttp") {
    if (value !== undefined && value !== "") throw bad(`parameter ${name} takes no value`);
    return new Uint8Array();
  }
  if (key < keyNames.length && (value === undefined || value === ""))
    throw bad(`parameter ${name} needs a value`);
  const text = value ?? "";
  const writer = new OctetWriter();
  switch (name) {
    case "mandatory": {
      const keys = text
        .split(",")
        .map(keyFromText)
        .sort((left, right) => left - right);
      for (const listed of keys) writer.uint16(listed);
      break;
    }
    case "alpn":
      for (const id of splitList(octetsFromText(text))) {
        if (id.length === 0 || id.length > 255) throw bad("an alpn id has 1 to 255 octets");
        writer.uint8(id.length);
        writer.octets(id);
      }
      break;
    case "port":
      writer.uint16(readInteger(text, 16));
      break;
    case "ipv4hint":
    case "ipv6hint":
      for (const address of text.split(",")) {
        const octets = name === "ipv4hint" ? ipv4FromText(address) : ipv6FromText(address);
        if (octets === undefined) throw bad(`${JSON.stringify(address)} is no address for ${name}`);
        writer.octets(octets);
      }
      break;
    case "ech":
      writer.octets(octetsFromBase64(text));
      break;
    default:
      writer.octets(octetsFromText(text));
  }
  return writer.take();
}

function paramToText(key: number, value: Uint8Array): string {
  const name = keyToText(key);
  const reader = new OctetReader(value);
  switch (name) {
    case "mandatory":
      return `${name}=${readAll(reader, () => keyToText(reader.uint16()))}`;
    case "alpn":
      return `${name}="${readAll(reader, () => alpnToText(reader.take(reader.uint8())))}"`;
    case "port":
      return `${name}=${reader.uint16()}`;
    case "ipv4hint":
      return `${name}=${readAll(reader, () => ipv4ToText(reader.take(4)))}`;
    case "ipv6hint":
      return `${name}=${readAll(reader, () => ipv6ToText(reader.take(16)))}`;
    case "ech":
      return `${name}=${octetsToBase64(value)}`;
    default:
      return value.length === 0 ? name : `${name}=${octetsToQuotedText(value)}`;
  }
}

function readAll(reader: OctetReader, read: () => string): string {
  const items: string[] = [];
  while (reader.remaining > 0) items.push(read());
  return items.join(",");
}

/** Splits at commas; inside the unescaped text a backslash still escapes a comma or itself (RFC 9460 appendix A.1). */
function splitList(octets: Uint8Array): Uint8Array[] {
  const items: number[][] = [[]];
  for (let at = 0; at < octets.length; at++) {
    if (octets[at] === 0x2c) items.push([]);
    else items.at(-1)!.push(octets[octets[at] === 0x5c && at + 1 < octets.length ? ++at : at]!);
  }
  return items.map((item) => Uint8Array.from(item));
}

function alpnToText(id: Uint8Array): string {
  return octetsToText(
    Uint8Array.from([...id].flatMap((octet) => (octet === 0x2c || octet === 0x5c ? [0x5c, octet] : [octet]))),
  );
}

function checkMandatory(params: ReadonlyMap<number, Uint8Array>): void {
  const listed = params.get(mandatoryKey);
  if (listed === undefined) return;
  const reader = new OctetReader(listed);
  let previous = -1;
  while (reader.remaining > 0) {
    const key = reader.uint16();
    if (key === mandatoryKey || key === previous || !params.has(key)) {
      throw bad(`mandatory lists ${keyToText(key)}, which must be another parameter of this record, once`);
    }
    previous = key;
  }
}

function bad(message: string): DnsError {
  return new DnsError("BadRecord", message);
}
