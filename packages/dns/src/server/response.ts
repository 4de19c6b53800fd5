import { headerOctets } from "../message/header.ts";
import { skipName } from "../message/wire-name.ts";
import { choiceAt, tailAt } from "../zone/content-reader.ts";
import { questionNameAt } from "../zone/owner-pointer.ts";
import { set as setWord, setFlag, tailored } from "../zone/zone-layout.ts";
import type { AnswerOutcome, UnsignedAnswer } from "../zone/zone-signer.ts";
import type { ZoneView } from "../zone/zone-view.ts";
import type { FastRandom } from "./fast-random.ts";
import { OutputViews } from "./output-views.ts";
import type { Query } from "./query.ts";
import type { RecordOrder } from "./record-order.ts";

/** Up to here a loop is quicker than a call of `set`. */
const loopOctetsMax = 96;
/** A record has two names at most, and a set no more records than fit a message. */
const patchesMax = 16_384;

export type Section = "answer" | "authority" | "additional";

/**
 * The answer being written, at the start of a buffer that the caller lends. One object is used again for every answer.
 * The header is written last.
 */
export class Response implements UnsignedAnswer {
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
  answers = 0;
  authority = 0;
  additional = 0;
  /** Where the owner of what `write` writes next stands, below 0x4000. */
  ownerAt: number = questionNameAt;
  /** Where the origin of its zone stands. */
  originAt: number = questionNameAt;
  /** The set that `write` wrote last, after its weights were drawn. */
  written = 0;
  /** What the last step of the lookup came to, and where the name stands that it was about. */
  outcome: AnswerOutcome = "data";
  nameAt: number = questionNameAt;
  /** Whether it is from a signed zone and the question had DO. */
  signed = false;
  /** Whether weights drew a group, and its tag's number (`geoTagId`). */
  isDrawn = false;
  drawnTag = 0;
  /** Over `output`, to write four octets at once. */
  #output: DataView = new DataView(this.output.buffer);
  readonly #outputs: OutputViews = new OutputViews();
  #questionEnd = 0;
  #questions = 0;
  readonly #random: FastRandom;
  readonly #order: RecordOrder;

  constructor(random: FastRandom, order: RecordOrder) {
    this.#random = random;
    this.#order = order;
  }

  /** Starts an answer without a question. */
  begin(output: Uint8Array): void {
    if (output !== this.output) {
      this.output = output;
      this.#output = this.#outputs.over(output);
    }
    this.at = headerOctets;
    this.limit = 0;
    this.authoritative = false;
    this.truncated = false;
    this.partial = false;
    this.rcode = 0;
    this.answers = 0;
    this.authority = 0;
    this.additional = 0;
    this.outcome = "data";
    this.nameAt = questionNameAt;
    this.signed = false;
    this.isDrawn = false;
    this.#questionEnd = headerOctets;
    this.#questions = 0;
  }

  /** Repeats the question bit for bit, the case of its name included. */
  writeQuestion(query: Query): void {
    const { output } = this;
    const length = query.questionLength;
    const { input } = query;
    const from = query.start + headerOctets;
    const { view } = query;
    if (view !== undefined && from + length + 3 <= input.length) {
      // Up to three octets too many, which what follows is written over.
      const target = this.#output;
      for (let index = 0; index < length; index += 4)
        target.setInt32(headerOctets + index, view.getInt32(from + index, true), true);
    } else for (let index = 0; index < length; index++) output[headerOctets + index] = input[from + index]!;
    this.at = headerOctets + length;
    this.#questionEnd = this.at;
    this.#questions = 1;
  }

  /**
   * Writes a record set that is owned by the name at `ownerAt`, in the zone whose origin stands at `originAt`.
   *
   * @returns where it starts, or -1 when it does not fit
   */
  write(view: ZoneView, given: number, section: Section): number {
    const { words } = view;
    let set = given;
    let info = words[set]!;
    if ((info & tailored) !== 0) {
      if ((info & setFlag.choice) === 0) return this.#writeOrdered(view, set, section);
      set = this.#draw(words, set);
      info = words[set]!;
    }
    const extent = words[set + setWord.extent]!;
    const length = extent & 0xffff;
    const { at } = this;
    if (at + length > this.limit) return -1;
    const count = extent >>> 16;
    let split = 0;
    if ((info & setFlag.rotates) !== 0) {
      const turn = view.takeTurn(set, count);
      const stride = words[set + setWord.tail]! >>> 16;
      split = stride > 0 ? turn * stride : startOf(view, set, turn);
    }
    this.#copy(view, (set + setWord.body) * 4, length, split);
    if (this.ownerAt !== questionNameAt) this.#writeOwners(at, at + length);
    if ((info & setFlag.patched) !== 0) this.#patch(words, set, at);
    this.at = at + length;
    this.written = set;
    this.#count(section, count);
    return at;
  }

  /**
   * Writes as many records as fit of a set that does not fit whole and whose owner is the question's name (RFC 2181 §9
   * lets part of a set stand where TC is set).
   */
  writePart(view: ZoneView, set: number): void {
    const { output, at } = this;
    const { octets, words } = view;
    const stride = words[set + setWord.tail]! >>> 16;
    let kept = (words[set + setWord.extent]! >>> 16) - 1;
    const endOf = (count: number): number => (stride > 0 ? count * stride : startOf(view, set, count));
    while (kept > 0 && at + endOf(kept) > this.limit) kept--;
    const length = endOf(kept);
    const bodyAt = (set + setWord.body) * 4;
    for (let index = 0; index < length; index++) output[at + index] = octets[bodyAt + index]!;
    this.at = at + length;
    this.answers += kept;
    this.partial = true;
  }

  /**
   * Writes the name at `ownerAt` out as the owner of all records from `start` on, which have a pointer there: in a message of
   * over 16,383 octets it may stand where no pointer leads to.
   *
   * @returns false, and all is as it was, when they do not fit
   */
  spellOwners(start: number, ownerAt: number): boolean {
    const { output } = this;
    const lengthAt = (at: number): number => 12 + ((output[at + 10]! << 8) | output[at + 11]!);
    const spelled = skipName(output, ownerAt) - ownerAt;
    let grown = 0;
    for (let at = start; at < this.at; at += lengthAt(at)) grown += spelled - 2;
    if (this.at + grown > this.limit) return false;
    // First all to the end, then one after the other to its place, which is never behind it.
    output.copyWithin(start + grown, start, this.at);
    this.at += grown;
    let to = start;
    for (let from = start + grown; from < this.at;) {
      const length = lengthAt(from);
      output.copyWithin(to, ownerAt, ownerAt + spelled);
      output.copyWithin(to + spelled, from + 2, from + length);
      to += spelled + length - 2;
      from += length;
    }
    return true;
  }

  /** Writes one whole record of the answer section that is ready as it is, or sets TC. */
  writeRecord(record: Uint8Array): void {
    if (this.at + record.length > this.limit) {
      this.truncated = true;
      return;
    }
    this.output.set(record, this.at);
    this.at += record.length;
    this.answers++;
  }

  /** Says that something did not fit. */
  overflow(): false {
    this.truncated = true;
    return false;
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

  /** Copies a body, beginning at octet `split`. */
  // oxlint-disable-next-line max-params -- allocates nothing
  #copy(view: ZoneView, from: number, length: number, split: number): void {
    const { output, at } = this;
    const { octets, words } = view;
    if (length > loopOctetsMax) {
      output.set(octets.subarray(from + split, from + length), at);
      if (split > 0) output.set(octets.subarray(from, from + split), at + length - split);
      return;
    }
    const rest = at + length - split;
    if ((split & 3) === 0 && at + length + 3 <= output.length) {
      // Bodies start at whole words. Up to three octets too many are written over by what follows.
      const target = this.#output;
      let word = (from + split) >>> 2;
      for (let to = at; to < rest; to += 4) target.setInt32(to, words[word++]!, true);
      word = from >>> 2;
      for (let to = rest; to < at + length; to += 4) target.setInt32(to, words[word++]!, true);
      return;
    }
    const joint = at - split;
    for (let index = split; index < length; index++) output[joint + index] = octets[from + index]!;
    for (let index = 0; index < split; index++) output[rest + index] = octets[from + index]!;
  }

  /** Lets the records between two places be owned by the name at `ownerAt`. */
  #writeOwners(start: number, end: number): void {
    const { output } = this;
    const owner = 0xc000 | this.ownerAt;
    for (let at = start; at < end; at += 12 + ((output[at + 10]! << 8) | output[at + 11]!)) {
      output[at] = owner >>> 8;
      output[at + 1] = owner;
    }
  }

  #patch(words: Int32Array, set: number, at: number): void {
    const { output } = this;
    const tail = tailAt(words, set);
    const count = words[tail]!;
    // No set has more pointers than records twice over; only words that are being overwritten say so.
    for (let index = 1; index <= count && index <= patchesMax; index++) {
      const patch = words[tail + index]!;
      const pointer = 0xc000 | (this.originAt + (patch >>> 16));
      const place = at + (patch & 0xffff);
      output[place] = pointer >>> 8;
      output[place + 1] = pointer;
    }
  }

  #draw(words: Int32Array, set: number): number {
    const table = choiceAt(words, set);
    const count = words[table]!;
    const drawn = this.#random.below(words[table + 3 * count - 2]!);
    let group = table + 1;
    while (group < table + 3 * count - 2 && drawn >= words[group]!) group += 3;
    this.isDrawn = true;
    this.drawnTag = words[group + 2]!;
    return set + words[group + 1]!;
  }

  /** Writes the records that a place or weights choose, in the order that they say. */
  #writeOrdered(view: ZoneView, set: number, section: Section): number {
    const order = this.#order;
    order.arrange(view, set);
    const { indexes, count } = order;
    const { octets, words } = view;
    const { output, at } = this;
    const bodyAt = (set + setWord.body) * 4;
    const total = words[set + setWord.extent]! >>> 16;
    const bodyLength = words[set + setWord.extent]! & 0xffff;
    let end = at;
    for (let index = 0; index < count; index++) {
      const record = indexes[index]!;
      const from = startOf(view, set, record);
      const to = record + 1 < total ? startOf(view, set, record + 1) : bodyLength;
      if (end + to - from > this.limit) return -1;
      for (let octet = from; octet < to; octet++) output[end++] = octets[bodyAt + octet]!;
    }
    if (this.ownerAt !== questionNameAt) this.#writeOwners(at, end);
    this.at = end;
    this.written = set;
    this.#count(section, count);
    return at;
  }

  #count(section: Section, count: number): void {
    if (section === "answer") this.answers += count;
    else if (section === "authority") this.authority += count;
    else this.additional += count;
  }
}

/** Where a record starts in a set's body. */
function startOf({ words, octets }: ZoneView, set: number, index: number): number {
  const tail = words[set + setWord.tail]!;
  const stride = tail >>> 16;
  if (stride > 0) return index * stride;
  const at = (set + (tail & 0xffff)) * 4 + 2 * index;
  return octets[at]! | (octets[at + 1]! << 8);
}
