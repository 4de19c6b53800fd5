import { deferred, type AnswerDatagram, type DatagramClient } from "@meridian/runtime";
import { headerOctets } from "../message/header.ts";
import { typeOpt } from "../message/type-numbers.ts";

/** A ring that one thread fills and another empties. It can be sent to a worker. */
export interface SharedQueryLogRing {
  readonly memory: SharedArrayBuffer;
  /** One of so many answers is noted. */
  readonly every: number;
}

/** One answered question, as it was noted. */
export interface QueryNote {
  readonly timeMs: number;
  readonly transport: DatagramClient["transport"];
  readonly client: Uint8Array;
  readonly port: number;
  /** The header of the question. */
  readonly asked: Uint8Array;
  /** Name, type and class as sent; empty where there is no whole question. */
  readonly question: Uint8Array;
  /** Third and fourth octet of the answer's header. */
  readonly flags: number;
  /** The response code with the bits that OPT has of it (RFC 6891 §6.1.3). */
  readonly rcode: number;
  /** 0 is silence; -1 an answer that is made elsewhere. */
  readonly answerOctets: number;
}

const slots = 4_096;
/**
 * Time 8, answer octets 4, port 2, flags 2, transport 1, address length 1, question length 2, address 16, response code 2,
 * then the message.
 */
const fixedOctets = 38;
const messageOctetsMax = 282;
const slotOctets = fixedOctets + messageOctetsMax;
const transports = ["udp", "tcp", "tls", "https"] as const;

/**
 * Notes answered questions where nobody has to wait for them: in a ring of fixed slots. When the reader is too slow, notes
 * are lost and counted, and answering goes on. Of the message only header and question are noted, so that no client
 * subnet, cookie or signature can reach a log.
 */
export class QueryLogRing {
  readonly shared: SharedQueryLogRing;
  /** Notes made, notes read and notes lost, each modulo 2^32. */
  readonly #counters: Int32Array;
  readonly #octets: Uint8Array;
  readonly #view: DataView;
  #skipped = 0;

  constructor(shared: SharedQueryLogRing) {
    this.shared = shared;
    this.#counters = new Int32Array(shared.memory, 0, 4);
    this.#octets = new Uint8Array(shared.memory, 16);
    this.#view = new DataView(shared.memory, 16);
  }

  static create(options: { readonly every: number }): QueryLogRing {
    return new QueryLogRing({ memory: new SharedArrayBuffer(16 + slots * slotOctets), every: options.every });
  }

  /** Notes lost since the start, modulo 2^32. */
  get lost(): number {
    return Atomics.load(this.#counters, 2) >>> 0;
  }

  /**
   * Wraps an answering function, so that its answers are noted. `nowMs` is the wall clock. With `passesOn`, what is deferred
   * goes to another thread and is noted there.
   */
  noting(
    answer: AnswerDatagram,
    { nowMs, passesOn = false }: { readonly nowMs: () => number; readonly passesOn?: boolean },
  ): AnswerDatagram {
    const { every } = this.shared;
    // oxlint-disable-next-line max-params -- the shape of AnswerDatagram
    return (input, offset, length, client, output) => {
      const answered = answer(input, offset, length, client, output);
      if ((passesOn && answered === deferred) || ++this.#skipped < every) return answered;
      this.#skipped = 0;
      if (length < headerOctets) return answered;
      const at = this.#claim();
      if (at < 0) return answered;
      const view = this.#view;
      view.setFloat64(at, nowMs());
      view.setInt32(at + 8, answered);
      view.setUint16(at + 12, client.port);
      view.setUint16(at + 14, answered > 0 ? (output[2]! << 8) | output[3]! : 0);
      this.#octets[at + 16] = transports.indexOf(client.transport);
      this.#octets[at + 17] = client.octetCount;
      this.#octets.set(client.octets, at + 20);
      const noted = questionEnd(input, offset, offset + length) - offset;
      view.setUint16(at + 18, noted);
      view.setUint16(at + 36, answered > 0 ? rcodeOf(output, noted) : 0);
      for (let index = 0; index < noted; index++) {
        this.#octets[at + fixedOctets + index] = input[offset + index]!;
      }
      Atomics.add(this.#counters, 0, 1);
      return answered;
    };
  }

  /** Takes the oldest note out. */
  take(): QueryNote | undefined {
    const counters = this.#counters;
    const read = Atomics.load(counters, 1);
    if (read === Atomics.load(counters, 0)) return undefined;
    const at = slotAt(read);
    const view = this.#view;
    const message = this.#octets.slice(at + fixedOctets, at + fixedOctets + view.getUint16(at + 18));
    const note: QueryNote = {
      timeMs: view.getFloat64(at),
      answerOctets: view.getInt32(at + 8),
      port: view.getUint16(at + 12),
      flags: view.getUint16(at + 14),
      rcode: view.getUint16(at + 36),
      transport: transports[this.#octets[at + 16]!] ?? "udp",
      client: this.#octets.slice(at + 20, at + 20 + this.#octets[at + 17]!),
      asked: message.subarray(0, headerOctets),
      question: message.subarray(headerOctets),
    };
    Atomics.add(counters, 1, 1);
    return note;
  }

  /** Where the next note goes, or -1 when the ring is full. */
  #claim(): number {
    const written = Atomics.load(this.#counters, 0);
    if (((written - Atomics.load(this.#counters, 1)) | 0) >= slots) {
      Atomics.add(this.#counters, 2, 1);
      return -1;
    }
    return slotAt(written);
  }
}

/** The counters wrap at 2^32, of which the number of slots is a divisor. */
function slotAt(counter: number): number {
  return ((counter >>> 0) % slots) * slotOctets;
}

/** The response code of an answer; only those without records have one that needs OPT, which is then behind the question. */
function rcodeOf(answer: Uint8Array, questionEndsAt: number): number {
  const low = answer[3]! & 15;
  for (let at = 6; at < 10; at++) if (answer[at] !== 0) return low;
  const isOpt = answer[11] === 1 && answer[questionEndsAt] === 0 && answer[questionEndsAt + 2] === typeOpt;
  return isOpt ? (answer[questionEndsAt + 5]! << 4) | low : low;
}

/** The offset behind the first question, or behind the header where there is no whole one. */
function questionEnd(input: Uint8Array, start: number, end: number): number {
  const limit = Math.min(end, start + messageOctetsMax);
  const questionAt = start + headerOctets;
  if (input[start + 4] === 0 && input[start + 5] === 0) return questionAt;
  let at = questionAt;
  while (at < limit && input[at]! !== 0) {
    if (input[at]! > 63) return questionAt;
    at += input[at]! + 1;
  }
  return at + 5 <= limit ? at + 5 : questionAt;
}
