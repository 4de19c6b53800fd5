import { DnsError, dnsErrorText } from "../dns-error.ts";
import { classFromText, isTypeText, typeFromText } from "../message/codes.ts";
import { rdataFromTokens } from "../message/rdata.ts";
import type { TextToken } from "../message/rdata-text.ts";
import { typeA, typeSoa } from "../message/type-numbers.ts";
import { foldName, nameFromText, nameOctetsMax, type Name } from "../name/name.ts";
import type { EntryTaker } from "./entry-cutter.ts";
import type { ZoneEntry, ZoneFileProblem } from "./zone-text.ts";

/** A record of a master file. The object is used again for the next one. */
export interface FileRecord {
  line: number;
  /** Folded; the same object as that of the record before where the owner is the same. */
  owner: Name;
  type: number;
  /** Absent where neither the record nor anything before it gives one. */
  ttl: number | undefined;
  rdata: Uint8Array;
}

export interface FileRecordTaker {
  record(record: FileRecord): void;
}

const ttlMax = 0x7fff_ffff;
const secondsPerUnit: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/** Reads entries of a master file as records, with what stands for the fields that they leave out. */
export class FileRecordReader implements EntryTaker {
  readonly #report: (problem: ZoneFileProblem) => void;
  readonly #taker: FileRecordTaker;
  readonly #record: FileRecord = {
    line: 0,
    owner: new Uint8Array(),
    type: 0,
    ttl: undefined,
    rdata: new Uint8Array(),
  };
  readonly #words: Int32Array = new Int32Array(10);
  readonly #name: Uint8Array = new Uint8Array(nameOctetsMax + 1);
  #origin: Name | undefined;
  #foldedOrigin: Name | undefined;
  #owner: Name | undefined;
  #ttl: number | undefined;

  constructor(options: {
    readonly origin: Name | undefined;
    readonly report: (problem: ZoneFileProblem) => void;
    readonly onRecord: FileRecordTaker;
  }) {
    this.#report = options.report;
    this.#taker = options.onRecord;
    this.#setOrigin(options.origin);
  }

  /** Reads what most lines of a large file are: `name [ttl] [IN] A address` in plain words. */
  takeLine(
    octets: Uint8Array,
    line: { readonly start: number; readonly end: number; readonly number: number },
  ): boolean {
    const words = this.#words;
    const { start, end } = line;
    let count = 0;
    for (let at = start; at < end;) {
      while (at < end && isBlank(octets[at]!)) at++;
      if (at === end) break;
      if (count === words.length) return false;
      words[count++] = at;
      while (at < end && !isBlank(octets[at]!)) at++;
      words[count++] = at;
    }
    if (count === 0) return true;
    let index = isBlank(octets[start]!) ? 0 : 2;
    let ttl = this.#ttl;
    if (index < count && isDigit(octets[words[index]!]!)) {
      ttl = readNumber(octets, words[index]!, words[index + 1]!);
      if (ttl < 0 || this.#ttl === undefined) return false;
      index += 2;
    }
    if (index < count && isWord(octets, words[index]!, words[index + 1]!, "IN")) index += 2;
    if (index + 4 !== count || !isWord(octets, words[index]!, words[index + 1]!, "A")) return false;
    if (isBlank(octets[start]!) ? this.#owner === undefined : !this.#readOwner(octets, words[0]!, words[1]!))
      return false;
    const rdata = new Uint8Array(4);
    if (!readAddress(octets, { start: words[index + 2]!, end: words[index + 3]! }, rdata)) return false;
    const record = this.#record;
    record.line = line.number;
    record.owner = this.#owner!;
    record.type = typeA;
    record.ttl = ttl;
    record.rdata = rdata;
    this.#taker.record(record);
    return true;
  }

  take(entry: ZoneEntry): void {
    try {
      this.#read(entry);
    } catch (error) {
      this.#report({ line: entry.line, message: dnsErrorText(error) });
    }
  }

  #read(entry: ZoneEntry): void {
    const [first] = entry.tokens;
    if (first!.text.startsWith("$") && !first!.quoted) {
      this.#readDirective(entry);
      return;
    }
    let index = 0;
    if (!entry.continued) this.#owner = this.#sameOwner(foldName(this.#nameOf(entry.tokens[index++]!)));
    const owner = this.#owner;
    if (owner === undefined) throw bad("the first record has no owner; start its line with the name");
    let ttl: number | undefined;
    let classSeen = false;
    for (; index < entry.tokens.length; index++) {
      const { text } = entry.tokens[index]!;
      const recordClass = classFromText(text);
      const seconds = secondsFromText(text);
      if (ttl === undefined && seconds !== undefined) {
        if (seconds > ttlMax) throw bad(`TTL ${text} is over ${ttlMax} seconds; write less`);
        ttl = seconds;
      } else if (!classSeen && recordClass !== undefined && !isTypeText(text)) {
        if (recordClass !== 1) throw bad(`class ${text} is not served; write IN or leave it out`);
        classSeen = true;
      } else {
        break;
      }
    }
    const typeToken = entry.tokens[index++];
    if (typeToken === undefined) throw bad("the record has no type; write it as NAME TTL TYPE DATA");
    const type = typeFromText(typeToken.text);
    if (ttl !== undefined && this.#ttl === undefined) this.#ttl = ttl;
    const data = entry.tokens.slice(index);
    const rdata = rdataFromTokens(type, type === typeSoa ? data.map(soaToken) : data, this.#origin);
    this.#taker.record(
      Object.assign(this.#record, { line: entry.line, owner, type, ttl: ttl ?? this.#ttl, rdata }),
    );
  }

  #readDirective({ tokens }: ZoneEntry): void {
    const directive = tokens[0]!.text.toUpperCase();
    const value = tokens[1];
    switch (directive) {
      case "$ORIGIN":
        if (value === undefined) throw bad("$ORIGIN needs a name");
        this.#setOrigin(this.#nameOf(value));
        break;
      case "$TTL": {
        const seconds = secondsFromText(value?.text ?? "");
        if (seconds === undefined || seconds > ttlMax) throw bad("$TTL needs a time such as 300 or 5m");
        this.#ttl = seconds;
        break;
      }
      case "$INCLUDE":
        throw bad("$INCLUDE is not supported; put the other file's records here");
      case "$GENERATE":
        throw bad("$GENERATE is not supported; write the records out");
      default:
        throw bad(`${directive} is no directive; use $ORIGIN or $TTL`);
    }
  }

  #setOrigin(origin: Name | undefined): void {
    this.#origin = origin;
    this.#foldedOrigin = origin === undefined ? undefined : foldName(origin);
  }

  #nameOf(token: TextToken): Name {
    const isRelative = token.text === "@" || !endsWithDot(token.text);
    if (isRelative && this.#origin === undefined) {
      throw bad(
        `${JSON.stringify(token.text)} is relative and there is no origin; add $ORIGIN or end the name with a dot`,
      );
    }
    return nameFromText(token.text, this.#origin);
  }

  /** Reads an owner of plain characters into `#owner`; false for one that needs the careful reader. */
  #readOwner(octets: Uint8Array, start: number, end: number): boolean {
    const name = this.#name;
    if (octets[start] === 0x40) return false;
    let labelAt = 0;
    let at = 1;
    for (let from = start; from < end; from++) {
      const octet = octets[from]!;
      if (octet === 0x2e) {
        const length = at - labelAt - 1;
        if (length === 0 || length > 63) return false;
        name[labelAt] = length;
        labelAt = at++;
      } else {
        name[at++] = octet >= 0x41 && octet <= 0x5a ? octet | 0x20 : octet;
      }
      if (at >= nameOctetsMax) return false;
    }
    const isAbsolute = octets[end - 1] === 0x2e;
    if (!isAbsolute) {
      const length = at - labelAt - 1;
      if (length > 63) return false;
      name[labelAt] = length;
      labelAt = at;
    }
    let length = labelAt;
    if (isAbsolute) name[length++] = 0;
    else {
      const origin = this.#foldedOrigin;
      if (origin === undefined || length + origin.length > nameOctetsMax) return false;
      name.set(origin, length);
      length += origin.length;
    }
    this.#owner = this.#sameOwner(name, length);
    return true;
  }

  /** The owner before where it is the same name, else a copy. */
  #sameOwner(name: Name, length: number = name.length): Name {
    const owner = this.#owner;
    if (owner?.length === length) {
      let at = 0;
      while (at < length && owner[at] === name[at]) at++;
      if (at === length) return owner;
    }
    return name.slice(0, length);
  }
}

/** A time in seconds, or with units as in `1h30m`; `undefined` when it is neither. */
export function secondsFromText(text: string): number | undefined {
  if (/^[0-9]{1,10}$/.test(text)) return Number(text) <= 0xffff_ffff ? Number(text) : undefined;
  if (!/^([0-9]{1,10}[smhdw])+$/i.test(text)) return undefined;
  let seconds = 0;
  for (const [, amount, unit] of text.matchAll(/([0-9]+)([smhdw])/gi)) {
    seconds += Number(amount) * secondsPerUnit[unit!.toLowerCase()]!;
  }
  return seconds <= 0xffff_ffff ? seconds : undefined;
}

/** Whether the last dot is a dot, and not an escaped one. */
function endsWithDot(text: string): boolean {
  let backslashes = 0;
  while (text[text.length - 2 - backslashes] === "\\") backslashes++;
  return text.endsWith(".") && backslashes % 2 === 0;
}

/** Times in the SOA may have units. */
function soaToken(token: TextToken, index: number): TextToken {
  const seconds = index > 2 ? secondsFromText(token.text) : undefined;
  return seconds === undefined ? token : { text: String(seconds), quoted: false };
}

function isBlank(octet: number): boolean {
  return octet === 0x20 || octet === 0x09 || octet === 0x0d;
}

function isDigit(octet: number): boolean {
  return octet >= 0x30 && octet <= 0x39;
}

/** Whether a word is the given one, in upper or lower case. */
// oxlint-disable-next-line max-params -- called several times for each line of a large file
function isWord(octets: Uint8Array, start: number, end: number, word: string): boolean {
  if (end - start !== word.length) return false;
  for (let index = 0; index < word.length; index++)
    if ((octets[start + index]! & 0xdf) !== word.charCodeAt(index)) return false;
  return true;
}

/** A number up to the largest TTL, or -1. */
function readNumber(octets: Uint8Array, start: number, end: number): number {
  if (end - start > 10) return -1;
  let value = 0;
  for (let at = start; at < end; at++) {
    if (!isDigit(octets[at]!)) return -1;
    value = value * 10 + octets[at]! - 0x30;
  }
  return value <= ttlMax ? value : -1;
}

/** Reads a dotted address without leading zeros; false where it is none. */
function readAddress(
  octets: Uint8Array,
  { start, end }: { readonly start: number; readonly end: number },
  rdata: Uint8Array,
): boolean {
  let part = 0;
  let digits = 0;
  let value = 0;
  for (let at = start; at <= end; at++) {
    const octet = at < end ? octets[at]! : 0x2e;
    if (isDigit(octet)) {
      if (digits > 0 && value === 0) return false;
      value = value * 10 + octet - 0x30;
      digits++;
      if (value > 255) return false;
    } else {
      if (octet !== 0x2e || digits === 0 || part > 3) return false;
      rdata[part++] = value;
      digits = 0;
      value = 0;
    }
  }
  return part === 4;
}

function bad(message: string): DnsError {
  return new DnsError("BadZone", message);
}
