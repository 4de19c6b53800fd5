import { nameOctetsMax, type Name } from "../name/name.ts";
import { nameLayoutOf, writeCanonicalRdata, type NameLayout } from "./canonical-rdata.ts";

const fixedOctets = 8;
const classIn = 1;

/**
 * A record set in canonical form (RFC 4034 §6): owner in lower case, rdata canonical, sorted, each once. One object is
 * used again and again; the content is the same for the same set in whatever order its records came.
 *
 * The content is: owner, type, class, TTL, then for each record its rdata length and rdata.
 */
export class CanonicalSet {
  /** Octets of the owner within the content. */
  ownerOctets = 0;
  ttl = 0;
  type = 0;
  hash = 0;
  #content: Uint8Array = new Uint8Array(4096);
  #length = 0;
  #rdatas: Uint8Array = new Uint8Array(4096);
  #rdatasLength = 0;
  readonly #starts: number[] = [];
  #layout: NameLayout | undefined;

  /** A copy of the content. */
  copyContent(): Uint8Array {
    return this.#content.slice(0, this.#length);
  }

  /** Whether the content is these octets. */
  hasContent(octets: Uint8Array): boolean {
    const content = this.#content;
    if (octets.length !== this.#length) return false;
    for (let index = 0; index < octets.length; index++) if (octets[index] !== content[index]) return false;
    return true;
  }

  /** Starts a set. The owner must be in lower case. */
  begin(owner: Name, { type, ttl }: { readonly type: number; readonly ttl: number }): void {
    this.ownerOctets = owner.length;
    this.type = type;
    this.ttl = ttl;
    this.#starts.length = 0;
    this.#layout = nameLayoutOf(type);
    this.#rdatasLength = 0;
    this.#content = grown(this.#content, owner.length + fixedOctets);
    const content = this.#content;
    for (let index = 0; index < owner.length; index++) content[index] = owner[index]!;
    writeUint16(content, owner.length, type);
    writeUint16(content, owner.length + 2, classIn);
    writeUint16(content, owner.length + 4, ttl >>> 16);
    writeUint16(content, owner.length + 6, ttl & 0xffff);
    this.#length = owner.length + fixedOctets;
  }

  /** Adds a record by its rdata in a message, from one offset to another. */
  add(message: Uint8Array, at: number, end: number): void {
    const from = this.#rdatasLength;
    this.#rdatas = grown(this.#rdatas, from + 2 + (end - at) + 2 * nameOctetsMax, from);
    const rdatas = this.#rdatas;
    const layout = this.#layout;
    let to = from + 2;
    if (layout === undefined) for (let index = at; index < end; index++) rdatas[to++] = message[index]!;
    else to = writeCanonicalRdata({ message, at, end }, layout, { target: rdatas, to });
    writeUint16(rdatas, from, to - from - 2);
    this.#starts.push(from);
    this.#rdatasLength = to;
  }

  /** Sorts the records and drops doubles; then content and `hash` are right. */
  finish(): void {
    const rdatas = this.#rdatas;
    const starts = this.#starts;
    if (starts.length > 1) starts.sort((left, right) => compareRdatas(rdatas, left, right));
    this.#content = grown(this.#content, this.#length + this.#rdatasLength, this.#length);
    const content = this.#content;
    let previous = -1;
    for (const start of starts) {
      if (previous >= 0 && compareRdatas(rdatas, previous, start) === 0) continue;
      const end = start + 2 + readUint16(rdatas, start);
      for (let index = start; index < end; index++) content[this.#length++] = rdatas[index]!;
      previous = start;
    }
    let hash = 0x811c9dc5;
    for (let index = 0; index < this.#length; index++) hash = Math.imul(hash ^ content[index]!, 0x01000193);
    this.hash = hash ^ (hash >>> 15);
  }

  /** How many labels RRSIG is to say (RFC 4034 §3.1.3): neither the root's nor the asterisk of a wildcard. */
  get labels(): number {
    const content = this.#content;
    let count = 0;
    for (let at = 0; content[at] !== 0; at += content[at]! + 1) count++;
    return content[0] === 1 && content[1] === 0x2a ? count - 1 : count;
  }

  /** The records one by one as they are signed (RFC 4034 §3.1.8.1), behind `prefix`. */
  toSigned(prefix: Uint8Array): Uint8Array {
    const content = this.#content;
    const headOctets = this.ownerOctets + fixedOctets;
    let count = 0;
    for (let at = headOctets; at < this.#length; at += 2 + readUint16(content, at)) count++;
    const signed = new Uint8Array(prefix.length + count * headOctets + this.#length - headOctets);
    signed.set(prefix);
    let to = prefix.length;
    for (let at = headOctets; at < this.#length;) {
      const end = at + 2 + readUint16(content, at);
      signed.set(content.subarray(0, headOctets), to);
      signed.set(content.subarray(at, end), to + headOctets);
      to += headOctets + end - at;
      at = end;
    }
    return signed;
  }
}

/** RFC 4034 §6.3: as left-justified octets, where a shorter one comes first. */
function compareRdatas(rdatas: Uint8Array, left: number, right: number): number {
  const leftLength = readUint16(rdatas, left);
  const rightLength = readUint16(rdatas, right);
  const shared = Math.min(leftLength, rightLength);
  for (let index = 2; index < shared + 2; index++) {
    const difference = rdatas[left + index]! - rdatas[right + index]!;
    if (difference !== 0) return difference;
  }
  return leftLength - rightLength;
}

function grown(octets: Uint8Array, needed: number, kept = 0): Uint8Array {
  if (needed <= octets.length) return octets;
  const larger = new Uint8Array(Math.max(needed, 2 * octets.length));
  larger.set(octets.subarray(0, kept));
  return larger;
}

function readUint16(octets: Uint8Array, at: number): number {
  return (octets[at]! << 8) | octets[at + 1]!;
}

function writeUint16(octets: Uint8Array, at: number, value: number): void {
  octets[at] = value >>> 8;
  octets[at + 1] = value;
}
