import { concatenate } from "../message/octets.ts";
import { readEntries, type ZoneEntry, type ZoneFileProblem } from "./zone-text.ts";

/** Takes the entries of a master file, one after the other. */
export interface EntryTaker {
  /**
   * An entry that is one line of plain words.
   *
   * @returns false where it is more than that can be read from; it then comes again as `take`
   */
  takeLine(
    octets: Uint8Array,
    line: { readonly start: number; readonly end: number; readonly number: number },
  ): boolean;
  take(entry: ZoneEntry): void;
}

const kind = { word: 0, blank: 1, newline: 2, comment: 3, special: 4 } as const;
/** Quotes, parentheses, escapes and what is not ASCII need the careful reader; so does `$` at the start. */
const kinds: Uint8Array = Uint8Array.from({ length: 256 }, (_, octet) => {
  if (octet === 0x0a) return kind.newline;
  if (octet === 0x20 || octet === 0x09 || octet === 0x0d) return kind.blank;
  if (octet === 0x3b) return kind.comment;
  return octet > 0x20 && octet < 0x7f && !'"()\\$'.includes(String.fromCharCode(octet))
    ? kind.word
    : kind.special;
});
/** An entry longer than any record can be is one whose parenthesis is not closed. */
const entryOctetsMax = 1 << 20;

const newline = 0x0a;
const quote = 0x22;
const backslash = 0x5c;

/** Cuts the octets of a master file into entries, whatever pieces they come in. */
export class EntryCutter {
  readonly #report: (problem: ZoneFileProblem) => void;
  readonly #decoder = new TextDecoder();
  readonly #place = { start: 0, end: 0, number: 1 };
  #rest = new Uint8Array();
  #line = 1;

  constructor(report: (problem: ZoneFileProblem) => void) {
    this.#report = report;
  }

  write(octets: Uint8Array, taker: EntryTaker): void {
    const whole = this.#rest.length === 0 ? octets : concatenate([this.#rest, octets]);
    const end = this.#cut(whole, taker);
    this.#rest = whole.slice(end);
  }

  /** The last line may lack its end. */
  end(taker: EntryTaker): void {
    const rest = this.#rest;
    this.#rest = new Uint8Array();
    if (rest.length > 0) this.#takeText(rest, { start: 0, end: rest.length }, taker);
  }

  /** Takes all whole entries; where the rest starts. */
  #cut(octets: Uint8Array, taker: EntryTaker): number {
    const place = this.#place;
    let at = 0;
    for (;;) {
      let end = at;
      let found: number = kind.word;
      while (end < octets.length) {
        found = kinds[octets[end]!]!;
        if (found >= kind.newline) break;
        end++;
      }
      if (end === octets.length) return at;
      if (found === kind.newline) {
        place.start = at;
        place.end = end;
        place.number = this.#line;
        if (!taker.takeLine(octets, place)) this.#takeText(octets, { start: at, end: end + 1 }, taker);
        else this.#line++;
        at = end + 1;
        continue;
      }
      const entryEnd = endOfEntry(octets, at);
      if (entryEnd < 0 && octets.length - at < entryOctetsMax) return at;
      const stop = entryEnd < 0 ? octets.length : entryEnd;
      this.#takeText(octets, { start: at, end: stop }, taker);
      at = stop;
    }
  }

  #takeText(
    octets: Uint8Array,
    { start, end }: { readonly start: number; readonly end: number },
    taker: EntryTaker,
  ): void {
    const first = this.#line;
    const text = this.#decoder.decode(octets.subarray(start, end));
    const report = (problem: ZoneFileProblem): void =>
      this.#report({ ...problem, line: problem.line + first - 1 });
    for (const entry of readEntries(text, report)) taker.take({ ...entry, line: entry.line + first - 1 });
    for (let at = start; at < end; at++) if (octets[at] === newline) this.#line++;
  }
}

/** The offset behind the newline that ends an entry, or -1 where that is still to come. */
function endOfEntry(octets: Uint8Array, start: number): number {
  let depth = 0;
  for (let at = start; at < octets.length; at++) {
    switch (octets[at]) {
      case newline:
        if (depth === 0) return at + 1;
        break;
      case 0x3b:
        while (at + 1 < octets.length && octets[at + 1] !== newline) at++;
        break;
      case 0x28:
        depth++;
        break;
      case 0x29:
        depth = Math.max(0, depth - 1);
        break;
      case backslash:
        if (octets[at + 1] !== newline) at++;
        break;
      case quote:
        at = endOfQuoted(octets, at + 1);
        break;
      case undefined:
      default:
        break;
    }
  }
  return -1;
}

/** The offset of the closing quote; a quoted text ends on its line, closed or not. */
function endOfQuoted(octets: Uint8Array, start: number): number {
  for (let at = start; at < octets.length; at++) {
    if (octets[at] === quote) return at;
    if (octets[at] === newline) return at - 1;
    if (octets[at] === backslash && octets[at + 1] !== newline) at++;
  }
  return octets.length;
}
