/**
 * Steps over JSON that stands whole in memory and is known to have all its quotes and braces in pairs. Each returns where
 * it stopped, or `unsure` where the octets are not what it expects.
 */
export const unsure = -1;
/** What `skipToKey` returns at the end of the object. */
export const noKey = -2;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const closeBrace = 0x7d;
const closeBracket = 0x5d;

/** RFC 8259 §2. */
export const isWhiteSpace = (octet: number): boolean =>
  octet === 0x20 || octet === 0x0a || octet === 0x0d || octet === 0x09;

/** From within an object to the first octet of the next key, behind its quote; `noKey` where there is none. */
export function skipToKey(octets: Uint8Array, from: number): number {
  let at = from;
  while (isWhiteSpace(octets[at] as number) || octets[at] === comma) at++;
  if (octets[at] === quote) return at + 1;
  return octets[at] === closeBrace ? noKey : unsure;
}

/** From the quote that ends a key to the first octet of its value. */
export function skipToValue(octets: Uint8Array, from: number): number {
  let at = from + 1;
  while (isWhiteSpace(octets[at] as number)) at++;
  if (octets[at++] !== colon) return unsure;
  while (isWhiteSpace(octets[at] as number)) at++;
  return at;
}

/** From the first octet of a plain text, ASCII without escapes, to the quote that ends it. */
export function endOfPlainText(octets: Uint8Array, from: number): number {
  for (let at = from; at < octets.length; at++) {
    const octet = octets[at] as number;
    if (octet === quote) return at;
    if (octet === backslash || octet > 0x7e || octet < 0x20) return unsure;
  }
  return unsure;
}

/** From the first octet of a value to the one after it. */
export function skipValue(octets: Uint8Array, from: number): number {
  let depth = 0;
  for (let at = from; at < octets.length; at++) {
    const octet = octets[at] as number;
    if (octet === quote) {
      for (at++; octets[at] !== quote; at++) {
        if (octets[at] === backslash) at++;
        if (at >= octets.length) return unsure;
      }
      if (depth === 0) return at + 1;
    } else if (octet === 0x7b || octet === 0x5b) {
      depth++;
    } else if (octet === closeBrace || octet === closeBracket) {
      // A number, true, false or null ends where its object does.
      if (depth === 0) return at;
      if (--depth === 0) return at + 1;
    } else if (octet === comma && depth === 0) {
      return at;
    }
  }
  return unsure;
}

/** Whether these octets are that ASCII text. */
export function isText(octets: Uint8Array, from: number, text: Uint8Array): boolean {
  for (let at = 0; at < text.length; at++) if (octets[from + at] !== text[at]) return false;
  return true;
}
