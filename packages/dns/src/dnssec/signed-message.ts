import type { RecordInMessage, SetInMessage } from "./answer-records.ts";
import { headerOctets } from "../message/header.ts";
import { equalNames, isAtOrBelow, type Name } from "../name/name.ts";
import { skipName } from "../message/wire-name.ts";
import { writeFoldedName } from "./canonical-rdata.ts";

/** Types whose rdata may hold compressed names, with the octets before and the count of those (RFC 3597 §4). */
const compressed: ReadonlyMap<number, { readonly octets: number; readonly names: number }> = new Map([
  ...[2, 3, 4, 5, 7, 8, 9, 12].map((type) => [type, { octets: 0, names: 1 }] as const),
  [6, { octets: 0, names: 2 }],
  [14, { octets: 0, names: 2 }],
  [15, { octets: 2, names: 1 }],
]);

/** Up to here a loop is quicker than a call of `set`. */
const loopOctetsMax = 128;

/**
 * The message that an answer becomes as signatures are put between its sections. What stood before the first of them
 * stays where it is; what follows moves on, and pointers to it move along.
 *
 * An answer `question | A | (authority) SOA` becomes `question | A RRSIG | SOA RRSIG NSEC RRSIG`: a pointer below the end
 * of A is kept, one to the SOA grows by the octets of the first RRSIG.
 */
export class SignedMessage {
  /** Twice the largest message: what is written beyond a limit is dropped later, not looked at here. */
  readonly #octets: Uint8Array = new Uint8Array(2 * 65_536);
  at = 0;
  #source: Uint8Array = new Uint8Array();
  #start = 0;
  /** From each of these offsets of the source on, pointers grow by so many octets more. */
  readonly #moves: { from: number; by: number }[] = [];
  /** Owners that were written out, and where. */
  #owners: { readonly name: Name; readonly at: number }[] = [];

  /** Starts behind the first octets of an answer, which stay as they are. */
  begin(source: Uint8Array, kept: number): void {
    this.#source = source;
    this.#moves.length = 0;
    this.#owners = [];
    this.#start = kept;
    this.at = kept;
  }

  /** Puts what was written in place of what stands behind the first octets of the answer. */
  finish(): void {
    const octets = this.#octets;
    const source = this.#source;
    if (this.at - this.#start > loopOctetsMax) {
      source.set(octets.subarray(this.#start, this.at), this.#start);
      return;
    }
    for (let index = this.#start; index < this.at; index++) source[index] = octets[index]!;
  }

  /** Says that what stands from this offset of the source on comes next, behind what was added. */
  moveOn(sourceAt: number): void {
    const before = this.#moves.reduce((sum, { by }) => sum + by, 0);
    this.#moves.push({ from: sourceAt, by: this.at - sourceAt - before });
  }

  /** Copies the records of a section of the source with their pointers set right. */
  copySets(sets: readonly SetInMessage[]): void {
    for (const { records } of sets) for (const record of records) this.#copyRecord(record);
  }

  #copyRecord({ at, fieldsAt, rdataAt, end }: RecordInMessage): void {
    const octets = this.#octets;
    const source = this.#source;
    this.#copyName(at);
    const start = this.at;
    for (let index = fieldsAt; index < rdataAt; index++) octets[this.at++] = source[index]!;
    const type = (source[fieldsAt]! << 8) | source[fieldsAt + 1]!;
    const names = compressed.get(type);
    let from = rdataAt;
    if (names !== undefined) {
      for (; from < rdataAt + names.octets; from++) octets[this.at++] = source[from]!;
      for (let index = 0; index < names.names; index++) from = this.#copyName(from);
    }
    for (; from < end; from++) octets[this.at++] = source[from]!;
    const length = this.at - start - 10;
    octets[start + 8] = length >>> 8;
    octets[start + 9] = length;
  }

  /** Writes a record whose owner is the name that stands at an offset of the source. */
  writeRecord(
    ownerAt: number,
    { type, ttl, rdata }: { readonly type: number; readonly ttl: number; readonly rdata: Uint8Array },
  ): void {
    this.#writeOwner(ownerAt);
    this.#writeFields({ type, ttl, rdata });
  }

  /** Writes a record whose owner need not stand in the source. The name is kept until the next `begin`. */
  writeOwned(
    owner: Name,
    record: { readonly type: number; readonly ttl: number; readonly rdata: Uint8Array },
  ): void {
    const known = this.#owners.find(({ name }) => equalNames(name, owner));
    if (known === undefined) {
      if (this.at < 0x4000) this.#owners.push({ name: owner, at: this.at });
      this.#spellOwner(owner);
    } else {
      this.#octets[this.at++] = 0xc0 | (known.at >>> 8);
      this.#octets[this.at++] = known.at;
    }
    this.#writeFields(record);
  }

  /** Writes a name with a pointer to what it has in common with the question, which stays where it is. */
  #spellOwner(owner: Name): void {
    const octets = this.#octets;
    const source = this.#source;
    const question = source.subarray(headerOctets, skipName(source, headerOctets));
    for (let at = 0; ; at += owner[at]! + 1) {
      const rest = owner.subarray(at);
      const isShared = rest.length > 2 && isAtOrBelow(question, rest);
      if (isShared) {
        const pointer = headerOctets + question.length - rest.length;
        octets[this.at++] = 0xc0 | (pointer >>> 8);
        octets[this.at++] = pointer;
        return;
      }
      octets.set(owner.subarray(at, at + owner[at]! + 1), this.at);
      this.at += owner[at]! + 1;
      if (owner[at] === 0) return;
    }
  }

  #writeFields({
    type,
    ttl,
    rdata,
  }: {
    readonly type: number;
    readonly ttl: number;
    readonly rdata: Uint8Array;
  }): void {
    const octets = this.#octets;
    const octetsAt = this.at;
    octets[octetsAt] = type >>> 8;
    octets[octetsAt + 1] = type;
    octets[octetsAt + 2] = 0;
    octets[octetsAt + 3] = 1;
    octets[octetsAt + 4] = ttl >>> 24;
    octets[octetsAt + 5] = ttl >>> 16;
    octets[octetsAt + 6] = ttl >>> 8;
    octets[octetsAt + 7] = ttl;
    octets[octetsAt + 8] = rdata.length >>> 8;
    octets[octetsAt + 9] = rdata.length;
    this.at = octetsAt + 10;
    for (let index = 0; index < rdata.length; index++) octets[octetsAt + 10 + index] = rdata[index]!;
    this.at += rdata.length;
  }

  #writeOwner(ownerAt: number): void {
    const source = this.#source;
    const first = source[ownerAt]!;
    // A pointer to a pointer would be a chain.
    const target = this.#moved(first >= 0xc0 ? ((first & 0x3f) << 8) | source[ownerAt + 1]! : ownerAt);
    if (target >= 0x4000) {
      this.at = writeFoldedName(source, ownerAt, { target: this.#octets, to: this.at });
      return;
    }
    this.#octets[this.at++] = 0xc0 | (target >>> 8);
    this.#octets[this.at++] = target;
  }

  /** Copies a name of the source; the offset behind it there. */
  #copyName(from: number): number {
    const octets = this.#octets;
    const source = this.#source;
    let at = from;
    for (;;) {
      const length = source[at]!;
      if (length >= 0xc0) {
        const target = this.#moved(((length & 0x3f) << 8) | source[at + 1]!);
        if (target >= 0x4000) {
          this.at = writeFoldedName(source, at, { target: octets, to: this.at });
        } else {
          octets[this.at++] = 0xc0 | (target >>> 8);
          octets[this.at++] = target;
        }
        return at + 2;
      }
      for (const end = at + length; at <= end; at++) octets[this.at++] = source[at]!;
      if (length === 0) return at;
    }
  }

  #moved(offset: number): number {
    let moved = offset;
    for (const { from, by } of this.#moves) if (offset >= from) moved += by;
    return moved;
  }
}
