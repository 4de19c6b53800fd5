import { headerOctets } from "../message/header.ts";
import { questionNameAt, type CompiledSet } from "../zone/compiled-set.ts";
import type { AnswerOutcome } from "../zone/zone-signer.ts";
import type { FastRandom } from "./fast-random.ts";
import type { Query } from "./query.ts";

/** Up to here a loop is quicker than a call of `set`. */
const loopOctetsMax = 96;

export type Section = "answer" | "authority" | "additional";

/**
 * The answer being written, at the start of a buffer that the caller lends. One object is used again for every answer.
 * The header is written last.
 */
export class Response {
  output: Uint8Array = new Uint8Array();
  /** Where the next octet goes. */
  at = 0;
  /** What the sections may fill; OPT has been set aside before. */
  limit = 0;
  authoritative = false;
  truncated = false;
  /** The answer section holds part of a set, which stays although the answer is truncated. */
  partial = false;
  rcode = 0;
  /** What the last step of the lookup came to, and where the name stands that it was about. */
  outcome: AnswerOutcome = "data";
  nameAt: number = questionNameAt;
  /** Whether it is from a signed zone and the question had DO. */
  signed = false;
  answers = 0;
  authority = 0;
  additional = 0;
  /** Where the owner of what `write` writes next stands, below 0x4000. */
  ownerAt: number = questionNameAt;
  /** Where the origin of its zone stands. */
  originAt: number = questionNameAt;
  /** The set that `write` wrote last, after its weights were drawn. */
  written: CompiledSet | undefined;
  #questionEnd = 0;
  #questions = 0;
  readonly #random: FastRandom;

  constructor(random: FastRandom) {
    this.#random = random;
  }

  /** Starts an answer without a question. */
  begin(output: Uint8Array): void {
    this.output = output;
    this.at = headerOctets;
    this.limit = 0;
    this.authoritative = false;
    this.truncated = false;
    this.partial = false;
    this.rcode = 0;
    this.outcome = "data";
    this.nameAt = questionNameAt;
    this.signed = false;
    this.answers = 0;
    this.authority = 0;
    this.additional = 0;
    this.#questionEnd = headerOctets;
    this.#questions = 0;
  }

  /** Repeats the question bit for bit, the case of its name included. */
  writeQuestion(query: Query): void {
    const { output } = this;
    const length = query.questionLength;
    const { input } = query;
    const from = query.start + headerOctets;
    for (let index = 0; index < length; index++) output[headerOctets + index] = input[from + index]!;
    this.at = headerOctets + length;
    this.#questionEnd = this.at;
    this.#questions = 1;
  }

  /**
   * Writes a record set that is owned by the name at `ownerAt`, in the zone whose origin stands at `originAt`.
   *
   * @returns where it starts, or -1 when it does not fit
   */
  write(given: CompiledSet, section: Section): number {
    const set = given.choice === undefined ? given : this.#draw(given.choice);
    const { body, count } = set;
    const { output, at } = this;
    const length = body.length;
    if (at + length > this.limit) return -1;
    let split = 0;
    if (set.rotate) {
      const { turn } = set;
      set.turn = turn + 1 < count ? turn + 1 : 0;
      split = set.stride > 0 ? turn * set.stride : set.starts[turn]!;
    }
    if (split > 0) {
      const joint = at + length - split;
      for (let index = split; index < length; index++) output[at + index - split] = body[index]!;
      for (let index = 0; index < split; index++) output[joint + index] = body[index]!;
    } else if (length <= loopOctetsMax) {
      for (let index = 0; index < length; index++) output[at + index] = body[index]!;
    } else {
      output.set(body, at);
    }
    if (this.ownerAt !== questionNameAt) {
      const owner = 0xc000 | this.ownerAt;
      for (let index = 0; index < count; index++) {
        const start = set.starts[index]!;
        const recordAt = at + (start < split ? start + length - split : start - split);
        output[recordAt] = owner >>> 8;
        output[recordAt + 1] = owner;
      }
    }
    if (set.patched) this.#patch(set, at);
    this.at = at + length;
    this.written = set;
    if (section === "answer") this.answers += count;
    else if (section === "authority") this.authority += count;
    else this.additional += count;
    return at;
  }

  /**
   * Writes as many records as fit of a set that does not fit whole and whose owner is the question's name (RFC 2181 §9
   * lets part of a set stand where TC is set).
   */
  writePart({ body, count, starts }: CompiledSet): void {
    const { output, at } = this;
    let kept = count - 1;
    while (kept > 0 && at + starts[kept]! > this.limit) kept--;
    const length = starts[kept]!;
    for (let index = 0; index < length; index++) output[at + index] = body[index]!;
    this.at = at + length;
    this.answers += kept;
    this.partial = true;
  }

  /** Leaves only the question, with TC: the client comes back over TCP. The rcode stays. */
  truncate(): void {
    this.at = this.#questionEnd;
    this.answers = 0;
    this.authority = 0;
    this.additional = 0;
    this.truncated = true;
    this.partial = false;
  }

  /** Leaves only the question. */
  clear(): void {
    this.truncate();
    this.truncated = false;
  }

  /**
   * Where the name stands that follows from the one at `nameAt` by dropping `labels` labels: never at a pointer, so
   * that pointers to it are no chains.
   */
  locate(nameAt: number, labels: number): number {
    const { output } = this;
    let at = nameAt;
    for (let left = labels; ; left--) {
      if (output[at]! >= 0xc0) at = ((output[at]! & 0x3f) << 8) | output[at + 1]!;
      if (left === 0) return at;
      at += output[at]! + 1;
    }
  }

  /** Writes the header: id, opcode and RD as asked, QR set, all else ours. */
  finish(query: Query): number {
    const { output } = this;
    const { input, start } = query;
    const asked = input[start + 2]!;
    output[0] = input[start]!;
    output[1] = input[start + 1]!;
    output[2] = 0x80 | (asked & 0x79) | (this.authoritative ? 0x04 : 0) | (this.truncated ? 0x02 : 0);
    output[3] = this.rcode & 15;
    output[4] = 0;
    output[5] = this.#questions;
    output[6] = this.answers >>> 8;
    output[7] = this.answers;
    output[8] = this.authority >>> 8;
    output[9] = this.authority;
    output[10] = this.additional >>> 8;
    output[11] = this.additional;
    return this.at;
  }

  #patch({ patches }: CompiledSet, at: number): void {
    const { output } = this;
    for (let index = 0; index < patches.length; index += 2) {
      const pointer = 0xc000 | (this.originAt + patches[index + 1]!);
      output[at + patches[index]!] = pointer >>> 8;
      output[at + patches[index]! + 1] = pointer;
    }
  }

  #draw(choice: NonNullable<CompiledSet["choice"]>): CompiledSet {
    const { cumulative, sets } = choice;
    const last = cumulative.length - 1;
    const drawn = this.#random.below(cumulative[last]!);
    let index = 0;
    while (drawn >= cumulative[index]! && index < last) index++;
    return sets[index]!;
  }
}
