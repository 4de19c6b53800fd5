import { foldNameText, foldTypeText } from "@meridian/dns";
import { canonicalName } from "../decide/dns-name.ts";

/** Names that are written in one way only, but for case and the final dot: nearly all. */
const plainName = /^(?:[\w*-]+\.)*[\w*-]+\.?$/;

/**
 * A name that an object gives in the form in which the DNS server compares names, escapes (RFC 1035 §5.1) resolved: two
 * spellings of one name must not be two names here and one there. What can be no name stays as it is, for the server to
 * refuse.
 */
export function canonicalOwner(text: string): string {
  if (plainName.test(text)) return canonicalName(text);
  try {
    return foldNameText(text);
  } catch {
    return text;
  }
}

/** As `canonicalOwner`, of a record type: `TYPE1` (RFC 3597 §5) is `A`. */
export function canonicalType(text: string): string {
  try {
    return foldTypeText(text);
  } catch {
    return text.toUpperCase();
  }
}
