import { DnsError } from "../dns-error.ts";

/**
 * A domain name in wire form: length octets and labels, ended by the root octet, never compressed, at most 255 octets.
 * Labels are 8-bit clean and keep their case; only `foldName` changes it.
 */
export type Name = Uint8Array;

/** Most octets of a name in wire form, root octet included (RFC 1035 §3.1). */
export const nameOctetsMax = 255;
/** Most octets of a label. */
const labelOctetsMax = 63;

/** The name of the root: the root octet alone. */
const rootName: Name = new Uint8Array(1);

const dot = 0x2e;
const backslash = 0x5c;

/**
 * Reads a name in presentation form (RFC 1035 §5.1): `\.` and `\DDD` escape, a final dot is optional.
 * With an origin, a name without a final dot is relative to it and `@` is the origin itself.
 *
 * @throws DnsError `BadName`
 */
export function nameFromText(text: string, origin?: Name): Name {
  if (text === ".") return rootName;
  if (text === "@" && origin !== undefined) return origin;
  if (text === "") throw new DnsError("BadName", "a name is empty; write . for the root");
  const octets = new Uint8Array(nameOctetsMax);
  let labelAt = 0;
  let at = 1;
  let absolute = false;
  for (let index = 0; index < text.length; index++) {
    let code = text.charCodeAt(index);
    if (code === dot) {
      closeLabel();
      absolute = index === text.length - 1;
      continue;
    }
    if (code === backslash) {
      const escaped = readEscape(text, index);
      code = escaped.octet;
      index += escaped.length - 1;
    } else if (code > 0x7e || code <= 0x20) {
      throw new DnsError(
        "BadName",
        `name ${quote(text)} has a character that must be escaped at position ${index + 1}; write \\DDD, or the xn-- form of an international name`,
      );
    }
    if (at - labelAt > labelOctetsMax) {
      throw new DnsError(
        "BadName",
        `name ${quote(text)} has a label over ${labelOctetsMax} octets; shorten it`,
      );
    }
    if (at >= nameOctetsMax - 1) throw tooLong(text);
    octets[at++] = code;
  }
  if (!absolute) closeLabel();
  const tail = absolute || origin === undefined ? rootName : origin;
  // `at` stands behind the length octet kept for a next label, which the tail overwrites.
  const length = at - 1;
  if (length + tail.length > nameOctetsMax) throw tooLong(text);
  const name = new Uint8Array(length + tail.length);
  name.set(octets.subarray(0, length));
  name.set(tail, length);
  return name;

  function closeLabel(): void {
    const length = at - labelAt - 1;
    if (length === 0)
      throw new DnsError("BadName", `name ${quote(text)} has an empty label; remove the extra dot`);
    octets[labelAt] = length;
    labelAt = at;
    at++;
  }
}

/** Writes a name in presentation form, without the final dot save for the root, which is `.`. */
export function nameToText(name: Name): string {
  if (name[0] === 0) return ".";
  let text = "";
  for (let at = 0; ;) {
    const length = name[at]!;
    if (length === 0) return text;
    if (at > 0) text += ".";
    for (const end = at + 1 + length; ++at < end;) text += labelOctetToText(name[at]!);
  }
}

/** As `nameToText` with the final dot, the form that names have in rdata. */
export function nameToAbsoluteText(name: Name): string {
  return name[0] === 0 ? "." : `${nameToText(name)}.`;
}

/** A copy with A-Z as a-z and nothing else changed (RFC 4343). Length octets are below `A`, so they stay. */
export function foldName(name: Name): Name {
  const folded = new Uint8Array(name.length);
  for (let index = 0; index < name.length; index++) {
    const octet = name[index]!;
    folded[index] = octet >= 0x41 && octet <= 0x5a ? octet | 0x20 : octet;
  }
  return folded;
}

/** Folds a name in presentation form to lower case, without the final dot: the key that texts are compared by. */
export function foldNameText(text: string): string {
  return nameToText(foldName(nameFromText(text)));
}

/** Whether two names are the same but for case. */
export function equalNames(left: Name, right: Name): boolean {
  return left.length === right.length && endsWithName(left, right);
}

/** Whether `name` is `ancestor` or below it, without regard to case. */
export function isAtOrBelow(name: Name, ancestor: Name): boolean {
  if (name.length < ancestor.length || !endsWithName(name, ancestor)) return false;
  const start = name.length - ancestor.length;
  let at = 0;
  while (at < start) at += name[at]! + 1;
  return at === start;
}

/** How many labels a name has; the root has none. */
export function countLabels(name: Name): number {
  let count = 0;
  for (let at = 0; name[at] !== 0; at += name[at]! + 1) count++;
  return count;
}

/** The name without its first label. The root has no parent: `undefined`. A view of the same octets. */
export function parentName(name: Name): Name | undefined {
  return name[0] === 0 ? undefined : name.subarray(name[0]! + 1);
}

/** Whether the first label is the asterisk of a wildcard (RFC 4592 §2.1.1). */
export function isWildcardName(name: Name): boolean {
  return name[0] === 1 && name[1] === 0x2a;
}

/** The octet that a backslash at `index` stands for, and how many characters that took. */
export function readEscape(text: string, index: number): { readonly octet: number; readonly length: number } {
  const digits = /^[0-9]{3}/.exec(text.slice(index + 1, index + 4))?.[0];
  if (digits !== undefined) {
    const octet = Number(digits);
    if (octet <= 255) return { octet, length: 4 };
  } else {
    const code = text.charCodeAt(index + 1);
    if (code >= 0x20 && code <= 0x7e && !(code >= 0x30 && code <= 0x39)) return { octet: code, length: 2 };
  }
  throw new DnsError(
    "BadName",
    `${quote(text)} has a bad escape; write \\DDD with 000 to 255, or \\ and one printable character`,
  );
}

function endsWithName(name: Name, tail: Name): boolean {
  const start = name.length - tail.length;
  for (let index = 0; index < tail.length; index++) {
    const left = name[start + index]!;
    const right = tail[index]!;
    if (left !== right && foldOctet(left) !== foldOctet(right)) return false;
  }
  return true;
}

function foldOctet(octet: number): number {
  return octet >= 0x41 && octet <= 0x5a ? octet | 0x20 : octet;
}

function labelOctetToText(octet: number): string {
  if (octet <= 0x20 || octet >= 0x7f) return `\\${String(octet).padStart(3, "0")}`;
  const character = String.fromCharCode(octet);
  return '."\\;()@$'.includes(character) ? `\\${character}` : character;
}

function quote(text: string): string {
  return JSON.stringify(text.length > 300 ? `${text.slice(0, 300)}...` : text);
}

function tooLong(text: string): DnsError {
  return new DnsError(
    "BadName",
    `name ${quote(text)} is over ${nameOctetsMax} octets in wire form; shorten it`,
  );
}
