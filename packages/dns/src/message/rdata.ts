import { DnsError } from "../dns-error.ts";
import type { Name } from "../name/name.ts";
import { typeFromText, typeToText } from "./codes.ts";
import { OctetReader, OctetWriter } from "./octets.ts";
import { hashedName, salt } from "./nsec3-fields.ts";
import {
  base64Rest,
  caaTag,
  characterString,
  characterStrings,
  compressibleName,
  hexRest,
  ipv4,
  ipv6,
  longText,
  moment,
  octetsFromHex,
  octetsToHex,
  plainName,
  readInteger,
  typeBitmap,
  typeField,
  uint16,
  uint32,
  uint8,
  type RdataField,
  type RdataWords,
} from "./rdata-field.ts";
import { tokenizeRdata, type TextToken } from "./rdata-text.ts";
import { svcParams } from "./svc-params.ts";
import { readName } from "./wire-name.ts";

const deviceKey = [uint16, uint8, uint8, base64Rest];
const digest = [uint16, uint8, uint8, hexRest];
const usage = [uint8, uint8, uint8, hexRest];

/** Fields by type. A type that is not here is opaque: `\# length hex` (RFC 3597 §5). */
const fieldsByType: ReadonlyMap<number, readonly RdataField[]> = new Map(
  Object.entries<readonly RdataField[]>({
    A: [ipv4],
    NS: [compressibleName],
    MD: [compressibleName],
    MF: [compressibleName],
    CNAME: [compressibleName],
    SOA: [compressibleName, compressibleName, uint32, uint32, uint32, uint32, uint32],
    MB: [compressibleName],
    MG: [compressibleName],
    MR: [compressibleName],
    PTR: [compressibleName],
    HINFO: [characterString, characterString],
    MINFO: [compressibleName, compressibleName],
    MX: [uint16, compressibleName],
    TXT: [characterStrings],
    RP: [plainName, plainName],
    AFSDB: [uint16, plainName],
    AAAA: [ipv6],
    SRV: [uint16, uint16, uint16, plainName],
    NAPTR: [uint16, uint16, characterString, characterString, characterString, plainName],
    KX: [uint16, plainName],
    CERT: [uint16, uint16, uint8, base64Rest],
    DNAME: [plainName],
    DS: digest,
    SSHFP: [uint8, uint8, hexRest],
    RRSIG: [typeField, uint8, uint8, uint32, moment, moment, uint16, plainName, base64Rest],
    NSEC: [plainName, typeBitmap],
    DNSKEY: deviceKey,
    DHCID: [base64Rest],
    NSEC3: [uint8, uint8, uint16, salt, hashedName, typeBitmap],
    NSEC3PARAM: [uint8, uint8, uint16, salt],
    TLSA: usage,
    SMIMEA: usage,
    CDS: digest,
    CDNSKEY: deviceKey,
    OPENPGPKEY: [base64Rest],
    CSYNC: [uint32, uint16, typeBitmap],
    ZONEMD: [uint32, uint8, uint8, hexRest],
    SVCB: [uint16, plainName, svcParams],
    HTTPS: [uint16, plainName, svcParams],
    SPF: [characterStrings],
    URI: [uint16, uint16, longText],
    CAA: [uint8, caaTag, longText],
  }).map(([type, fields]) => [typeFromText(type), fields]),
);

/** Where names stand in rdata, for compression and for additional records. */
export interface RdataName {
  readonly at: number;
  readonly name: Name;
  readonly compressible: boolean;
}

/**
 * Reads rdata from presentation form into wire form, names uncompressed. Also accepts `\# length hex` for every type.
 *
 * @throws DnsError `BadRecord` or `BadName`
 */
export function rdataFromText(type: number, text: string, origin?: Name): Uint8Array {
  return rdataFromTokens(type, tokenizeRdata(text), origin);
}

/** As `rdataFromText`, from words that were split already. */
export function rdataFromTokens(type: number, tokens: readonly TextToken[], origin?: Name): Uint8Array {
  const fields = fieldsByType.get(type);
  if (tokens[0]?.text === "\\#" && !tokens[0].quoted) return genericRdata(type, tokens);
  if (fields === undefined) {
    throw new DnsError("BadRecord", `data of ${typeToText(type)} must be in the form \\# length hex`);
  }
  const writer = new OctetWriter();
  let at = 0;
  const words: RdataWords = {
    origin,
    next(what) {
      const token = tokens[at++];
      if (token === undefined)
        throw new DnsError("BadRecord", `${typeToText(type)} data is incomplete: ${what} is missing`);
      return token;
    },
    rest() {
      const rest = tokens.slice(at);
      at = tokens.length;
      return rest;
    },
  };
  for (const field of fields) field.fromText(words, writer);
  if (at < tokens.length) {
    throw new DnsError(
      "BadRecord",
      `${typeToText(type)} data has more than its fields: remove ${JSON.stringify(tokens[at]!.text)}`,
    );
  }
  return writer.take();
}

/**
 * Writes rdata of a known type in presentation form, others as `\# length hex`, and so too what lacks its last field:
 * whatever is read can be written again. @throws DnsError `BadMessage`
 */
export function rdataToText(type: number, rdata: Uint8Array): string {
  return rdataInMessageToText(type, new OctetReader(rdata));
}

/** As `rdataToText`, for rdata within a message, whose names may point anywhere before it. Reads to the reader's end. */
export function rdataInMessageToText(type: number, reader: OctetReader): string {
  const fields = fieldsByType.get(type);
  if (fields === undefined) return genericText(reader.rest());
  const start = reader.at;
  const texts = fields.map((field) => field.toText(reader));
  if (reader.remaining > 0)
    throw new DnsError("BadMessage", `${typeToText(type)} data has ${reader.remaining} octets too many`);
  if (fields.at(-1)!.needsText && texts.at(-1) === "")
    return genericText(rdataInMessageToWire(type, new OctetReader(reader.octets, start, reader.end)));
  return texts.filter((text) => text !== "").join(" ");
}

/**
 * The rdata within a message with its names written out, from the reader to its end: a copy. The data must be of its
 * type. @throws DnsError `BadMessage`
 */
export function rdataInMessageToWire(type: number, reader: OctetReader): Uint8Array {
  const fields = fieldsByType.get(type);
  if (fields === undefined) return reader.rest().slice();
  const start = reader.at;
  let writer: OctetWriter | undefined;
  for (const field of fields) {
    const at = reader.at;
    if (field.name === undefined) {
      field.toText(reader);
      writer?.octets(reader.octets.subarray(at, reader.at));
      continue;
    }
    if (writer === undefined) {
      writer = new OctetWriter();
      writer.octets(reader.octets.subarray(start, at));
    }
    writer.octets(readName(reader));
  }
  if (reader.remaining > 0)
    throw new DnsError("BadMessage", `${typeToText(type)} data has ${reader.remaining} octets too many`);
  return writer?.take() ?? reader.octets.slice(start, reader.end);
}

/** The names in rdata in wire form, in order. @throws DnsError `BadMessage` when the rdata is not of its type */
export function rdataNames(type: number, rdata: Uint8Array): RdataName[] {
  const fields = fieldsByType.get(type);
  if (fields === undefined || !fields.some((field) => field.name !== undefined)) return [];
  const names: RdataName[] = [];
  const reader = new OctetReader(rdata);
  for (const field of fields) {
    const at = reader.at;
    if (field.name === undefined) field.toText(reader);
    else names.push({ at, name: readName(reader), compressible: field.name === "compressible" });
  }
  return names;
}

function genericText(rdata: Uint8Array): string {
  return rdata.length === 0 ? "\\# 0" : `\\# ${rdata.length} ${octetsToHex(rdata)}`;
}

function genericRdata(type: number, tokens: readonly TextToken[]): Uint8Array {
  const length = readInteger(tokens[1]?.text ?? "", 16);
  const rdata = octetsFromHex(
    tokens
      .slice(2)
      .map((token) => token.text)
      .join(""),
  );
  if (rdata.length !== length) {
    throw new DnsError(
      "BadRecord",
      `\\# says ${length} octets and ${rdata.length} follow; correct one of them`,
    );
  }
  // RFC 3597 §5: the form is allowed for known types, and then the data must be that type's.
  try {
    rdataToText(type, rdata);
  } catch (error) {
    throw new DnsError("BadRecord", `\\# data is not that of ${typeToText(type)}`, { cause: error });
  }
  return rdata;
}
