import { DnsError } from "../dns-error.ts";
import { readEscape } from "../name/name.ts";

/** A word of presentation form. Escapes are still in it; quotes are not. */
export interface TextToken {
  readonly text: string;
  readonly quoted: boolean;
}

/** Splits the presentation form of one record's rdata into words. @throws DnsError `BadRecord` */
export function tokenizeRdata(text: string): TextToken[] {
  const tokens: TextToken[] = [];
  for (let at = 0; at < text.length;) {
    const character = text[at]!;
    if (character === " " || character === "\t" || character === "\n" || character === "\r") {
      at++;
      continue;
    }
    const quoted = character === '"';
    const start = quoted ? at + 1 : at;
    at = start;
    while (at < text.length && (quoted ? text[at] !== '"' : !/[ \t\r\n"]/.test(text[at]!)))
      at += text[at] === "\\" ? 2 : 1;
    if (quoted && at >= text.length) {
      throw new DnsError(
        "BadRecord",
        `a quoted text is not closed in ${JSON.stringify(text.slice(0, 80))}; add a "`,
      );
    }
    tokens.push({ text: text.slice(start, at), quoted });
    if (quoted) at++;
  }
  return tokens;
}

/** The octets that a word stands for; characters beyond ASCII count as their UTF-8. */
export function octetsFromText(text: string): Uint8Array {
  const octets: number[] = [];
  for (let at = 0; at < text.length;) {
    if (text[at] === "\\") {
      const { octet, length } = readEscape(text, at);
      octets.push(octet);
      at += length;
      continue;
    }
    const point = text.codePointAt(at)!;
    const character = String.fromCodePoint(point);
    if (point < 0x80) octets.push(point);
    else octets.push(...new TextEncoder().encode(character));
    at += character.length;
  }
  return Uint8Array.from(octets);
}

/** A quoted character string: printable ASCII as it is, the rest as `\DDD`. */
export function octetsToQuotedText(octets: Uint8Array): string {
  return `"${octetsToText(octets)}"`;
}

/** As `octetsToQuotedText` without the quotes. */
export function octetsToText(octets: Uint8Array): string {
  let text = "";
  for (const octet of octets) {
    if (octet < 0x20 || octet > 0x7e) text += `\\${String(octet).padStart(3, "0")}`;
    else if (octet === 0x22 || octet === 0x5c) text += `\\${String.fromCharCode(octet)}`;
    else text += String.fromCharCode(octet);
  }
  return text;
}

/**
 * The TXT rdata, in presentation form, that carries a text of any length: character strings of at most 255 octets.
 *
 * Use it for texts that come from elsewhere, where a space or a quote must not split or end the string.
 */
export function textToTxtData(text: string): string {
  const octets = new TextEncoder().encode(text);
  const strings: string[] = [];
  for (let at = 0; at === 0 || at < octets.length; at += 255)
    strings.push(octetsToQuotedText(octets.subarray(at, at + 255)));
  return strings.join(" ");
}
