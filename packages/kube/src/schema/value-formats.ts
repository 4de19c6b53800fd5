import { isCidr, isIpv4, isIpv6 } from "../ip-address.ts";
import { validateDns1123Label, validateDns1123Subdomain } from "../names.ts";
import { parseTime } from "../timestamp.ts";
import { isGoDuration } from "./duration-text.ts";

/**
 * True if a text follows a format; unknown formats take everything, so that a schema made for a newer server works.
 * Longer texts than a format can have are refused before any expression sees them.
 */
export function followsFormat(format: string, text: string): boolean {
  const check = formats.get(format.replaceAll("-", ""));
  return check === undefined || (text.length <= formattedCharactersMax && check(text));
}

/** Characters of a text that a format is checked on, but for those without a limit (`byte`, `password`). */
const formattedCharactersMax = 8_192;

const matching =
  (pattern: RegExp) =>
  (text: string): boolean =>
    pattern.test(text);

const uuid = (version: string): ((text: string) => boolean) =>
  matching(new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$`, "i"));

/** Keys are without dashes: `date-time` and `datetime` are the same. */
const formats: ReadonlyMap<string, (text: string) => boolean> = new Map<string, (text: string) => boolean>([
  ["datetime", (text) => parseTime(text) !== undefined],
  ["date", (text) => /^\d{4}-\d\d-\d\d$/.test(text) && parseTime(`${text}T00:00:00Z`) !== undefined],
  ["duration", isGoDuration],
  ["email", matching(/^(?:[^<>@\s]+@[^<>@\s]+|[^<>@]*<[^<>@\s]+@[^<>@\s]+>)$/)],
  ["hostname", isHostname],
  ["ipv4", isIpv4],
  ["ipv6", isIpv6],
  ["cidr", isCidr],
  ["uri", matching(/^(?:[a-zA-Z][a-zA-Z0-9+.-]*:|\/)(?:[^\s%\p{Cc}]|%[0-9a-fA-F]{2})*$/u)],
  [
    "mac",
    matching(
      /^(?:[0-9a-f]{2}([:-]))(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}$|^[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}$/i,
    ),
  ],
  ["uuid", uuid("[0-9a-f]")],
  ["uuid3", uuid("3")],
  ["uuid4", uuid("4")],
  ["uuid5", uuid("5")],
  ["isbn", (text) => isIsbn10(text) || isIsbn13(text)],
  ["isbn10", isIsbn10],
  ["isbn13", isIsbn13],
  ["creditcard", isCreditCard],
  ["ssn", matching(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/)],
  ["hexcolor", matching(/^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i)],
  [
    "rgbcolor",
    matching(/^rgb\(\s*(?:25[0-5]|2[0-4]\d|1?\d?\d)\s*(?:,\s*(?:25[0-5]|2[0-4]\d|1?\d?\d)\s*){2}\)$/),
  ],
  ["bsonobjectid", matching(/^[0-9a-f]{24}$/i)],
  ["k8sshortname", (text) => validateDns1123Label(text).length === 0],
  ["k8slongname", (text) => validateDns1123Subdomain(text).length === 0],
]);

/** RFC 1034 names as the API takes them: letters, digits, dashes and underscores inside labels. */
function isHostname(text: string): boolean {
  if (text.length > 255 || text === "") return false;
  return text
    .replace(/\.$/, "")
    .split(".")
    .every((label) => label.length <= 63 && /^[\p{L}\p{N}](?:[\p{L}\p{N}_-]*[\p{L}\p{N}])?$/u.test(label));
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[- ]/g, "");
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  const sum = Array.from(digits, (digit, at) => (digit === "X" ? 10 : Number(digit)) * (10 - at));
  return sum.reduce((a, b) => a + b, 0) % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[- ]/g, "");
  if (!/^\d{13}$/.test(digits)) return false;
  const sum = Array.from(digits, (digit, at) => Number(digit) * (at % 2 === 0 ? 1 : 3));
  return sum.reduce((a, b) => a + b, 0) % 10 === 0;
}

/** Luhn's check. */
function isCreditCard(text: string): boolean {
  const digits = text.replace(/[- ]/g, "");
  if (!/^\d{12,19}$/.test(digits)) return false;
  const sum = Array.from(digits)
    .toReversed()
    .map((digit, at) => {
      const doubled = Number(digit) * (at % 2 === 0 ? 1 : 2);
      return doubled > 9 ? doubled - 9 : doubled;
    });
  return sum.reduce((a, b) => a + b, 0) % 10 === 0;
}

/** True for standard base64 with its padding; of any length. */
export function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text.replace(/[\r\n]/g, ""));
}
