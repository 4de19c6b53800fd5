import { DnsError } from "../dns-error.ts";
import { headerOctets } from "../message/header.ts";
import { rdataNames } from "../message/rdata.ts";
import type { WireRecord } from "../zone/wire-record.ts";
import { SuffixTable } from "./suffix-table.ts";

/** Where a pointer can still reach (RFC 1035 §4.1.4): beyond it, a message would only grow without compressing. */
const messageOctetsAim = 0x4000;
const flagsOfAnswer = 0x8400;

/** What the messages of one transfer have in common. */
export interface TransferHead {
  readonly id: number;
  /** The question as it was sent: name, type and class. Only the first message repeats it (RFC 5936 §2.2.1). */
  readonly question: Uint8Array;
  /** OPT record for the first message, where the question had one. */
  readonly opt?: Uint8Array;
  /** What fits into a message at most; those of a stream are about 16 KiB even so. */
  readonly octetsMax: number;
}

/**
 * Packs records into messages of a transfer: compressed, as many to a message as pointers reach. A record that is over
 * that alone gets a message of its own.
 */
export class TransferWriter {
  readonly #head: TransferHead;
  readonly #octetsAim: number;
  readonly #octets = new Uint8Array(65_535 + 512);
  readonly #suffixes = new SuffixTable();
  #at = 0;
  #count = 0;
  #first = true;

  constructor(head: TransferHead) {
    this.#head = head;
    this.#octetsAim = Math.min(head.octetsMax, messageOctetsAim);
    this.#begin();
  }

  /**
   * Adds a record. Where it does not fit any more, the message before it is returned and the record begins the next.
   *
   * @throws DnsError `TooLarge` for a record that fits into no message
   */
  add(record: WireRecord): Uint8Array | undefined {
    const before = this.#at;
    this.#write(record);
    const room = this.#first ? (this.#head.opt?.length ?? 0) : 0;
    if (this.#at + room <= this.#octetsAim) return undefined;
    let message: Uint8Array | undefined;
    if (this.#count > 1) {
      this.#at = before;
      this.#count--;
      message = this.finish();
      this.#begin();
      this.#write(record);
    }
    if (this.#at + room > this.#head.octetsMax) throw tooLarge(record);
    return message;
  }

  /** The message that was begun last. A copy. */
  finish(): Uint8Array {
    const { opt } = this.#head;
    let at = this.#at;
    if (this.#first && opt !== undefined) {
      this.#octets.set(opt, at);
      at += opt.length;
      this.#octets[11] = 1;
    }
    this.#octets[6] = this.#count >>> 8;
    this.#octets[7] = this.#count;
    this.#first = false;
    return this.#octets.slice(0, at);
  }

  #begin(): void {
    const { id, question } = this.#head;
    const octets = this.#octets;
    octets.fill(0, 0, headerOctets);
    octets[0] = id >>> 8;
    octets[1] = id;
    octets[2] = flagsOfAnswer >>> 8;
    this.#suffixes.clear();
    this.#at = headerOctets;
    this.#count = 0;
    if (!this.#first) return;
    octets[5] = 1;
    // Through the table, so that the records can point to the question's name.
    const nameLength = question.length - 4;
    this.#at = this.#suffixes.write(question.subarray(0, nameLength), octets, this.#at);
    octets.set(question.subarray(nameLength), this.#at);
    this.#at += 4;
  }

  #write({ owner, type, ttl, rdata }: WireRecord): void {
    const octets = this.#octets;
    if (this.#at + owner.length + 10 + rdata.length > octets.length) {
      // Counts as too long for this message, without touching what is behind its end.
      this.#at = octets.length;
      this.#count++;
      return;
    }
    let at = this.#suffixes.write(owner, octets, this.#at);
    octets[at] = type >>> 8;
    octets[at + 1] = type;
    octets[at + 2] = 0;
    octets[at + 3] = 1;
    octets[at + 4] = ttl >>> 24;
    octets[at + 5] = ttl >>> 16;
    octets[at + 6] = ttl >>> 8;
    octets[at + 7] = ttl;
    const lengthAt = at + 8;
    at = this.#writeRdata(type, rdata, at + 10);
    const length = at - lengthAt - 2;
    octets[lengthAt] = length >>> 8;
    octets[lengthAt + 1] = length;
    this.#at = at;
    this.#count++;
  }

  #writeRdata(type: number, rdata: Uint8Array, start: number): number {
    let at = start;
    let copied = 0;
    for (const { at: nameAt, name, compressible } of rdataNames(type, rdata)) {
      if (!compressible) continue;
      this.#octets.set(rdata.subarray(copied, nameAt), at);
      at += nameAt - copied;
      at = this.#suffixes.write(name, this.#octets, at);
      copied = nameAt + name.length;
    }
    this.#octets.set(copied === 0 ? rdata : rdata.subarray(copied), at);
    return at + rdata.length - copied;
  }
}

function tooLarge({ owner, rdata }: WireRecord): DnsError {
  return new DnsError(
    "TooLarge",
    `a record of ${owner.length + 10 + rdata.length} octets fits into no message; make its data shorter`,
  );
}
