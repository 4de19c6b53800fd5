import { skipName } from "../message/wire-name.ts";
import { nameOctetsMax } from "../name/name.ts";

/** Where names stand in rdata of one type: octets to skip, character strings to skip, then so many names. */
export interface NameLayout {
  readonly octets: number;
  readonly strings: number;
  readonly names: number;
}

const oneName: NameLayout = { octets: 0, strings: 0, names: 1 };
const twoNames: NameLayout = { octets: 0, strings: 0, names: 2 };
const nameAfterTwo: NameLayout = { octets: 2, strings: 0, names: 1 };

/**
 * The types whose rdata names are in lower case in canonical form: the list of RFC 4034 §6.2 as RFC 6840 §5.1 corrects
 * it, without NSEC. A6 is left out; no zone has it. All younger types are opaque (RFC 3597 §7).
 */
const layouts: ReadonlyMap<number, NameLayout> = new Map([
  [2, oneName], // NS
  [3, oneName], // MD
  [4, oneName], // MF
  [5, oneName], // CNAME
  [6, twoNames], // SOA
  [7, oneName], // MB
  [8, oneName], // MG
  [9, oneName], // MR
  [12, oneName], // PTR
  [14, twoNames], // MINFO
  [15, nameAfterTwo], // MX
  [17, twoNames], // RP
  [18, nameAfterTwo], // AFSDB
  [21, nameAfterTwo], // RT
  [24, { octets: 18, strings: 0, names: 1 }], // SIG
  [26, { octets: 2, strings: 0, names: 2 }], // PX
  [30, oneName], // NXT
  [33, { octets: 6, strings: 0, names: 1 }], // SRV
  [35, { octets: 4, strings: 3, names: 1 }], // NAPTR
  [36, nameAfterTwo], // KX
  [39, oneName], // DNAME
  [46, { octets: 18, strings: 0, names: 1 }], // RRSIG
]);

/** Where names stand in the rdata of a type that is not opaque; `undefined` for all others. */
export function nameLayoutOf(type: number): NameLayout | undefined {
  return layouts.get(type);
}

/** A span of octets of a message, in which names may be compressed. */
export interface MessageSpan {
  readonly message: Uint8Array;
  readonly at: number;
  readonly end: number;
}

/**
 * Writes rdata with names in its canonical form (RFC 4034 §6.2): names expanded and in lower case. The target needs room
 * for the rdata and 255 octets for each name.
 *
 * @returns the offset behind it
 */
export function writeCanonicalRdata(
  { message, at, end }: MessageSpan,
  layout: NameLayout,
  { target, to }: Target,
): number {
  let stop = at + layout.octets;
  for (let string = 0; string < layout.strings; string++) stop += 1 + message[stop]!;
  let written = copy(message, { at, end: stop }, { target, to });
  for (let name = 0; name < layout.names; name++) {
    written = writeFoldedName(message, stop, { target, to: written });
    stop = skipName(message, stop);
  }
  return copy(message, { at: stop, end }, { target, to: written });
}

/** Where octets go. */
export interface Target {
  readonly target: Uint8Array;
  readonly to: number;
}

/**
 * Writes the name at `at` of a message, expanded and in lower case; the offset behind it.
 *
 * Only for messages that were composed here: a name that comes to no end stops at 255 octets and is wrong.
 */
export function writeFoldedName(message: Uint8Array, at: number, { target, to }: Target): number {
  let from = at;
  let written = to;
  for (const limit = to + nameOctetsMax; written < limit;) {
    const length = message[from]!;
    if (length >= 0xc0) {
      from = ((length & 0x3f) << 8) | message[from + 1]!;
      continue;
    }
    target[written++] = length;
    if (length === 0) break;
    for (const labelEnd = ++from + length; from < labelEnd; from++) {
      const octet = message[from]!;
      target[written++] = octet >= 0x41 && octet <= 0x5a ? octet | 0x20 : octet;
    }
  }
  return written;
}

function copy(
  message: Uint8Array,
  { at, end }: { readonly at: number; readonly end: number },
  { target, to }: Target,
): number {
  for (let index = at; index < end; index++) target[to + index - at] = message[index]!;
  return to + end - at;
}
