import { ControllerError } from "../controller-error.ts";
import { headBytesMax } from "./part-head.ts";

/** What stands at a place in a stream. */
export interface MessageParser {
  /**
   * Takes the whole parts that stand from `start` to `end` and returns where the first begins that is not whole: `end` if
   * there is none.
   */
  parse(octets: Buffer, start: number, end: number): number;
  /** Octets of the part that is not whole; 0 where they are not known, since its head is not whole either. */
  readonly wanted: number;
}

const firstBytes = 4 * 1024;
const keptBytesMax = 64 * 1024;

/**
 * Hands the parts of a stream whose chunks are cut anywhere to a parser. Whole ones stay where they came, so that most
 * octets are not copied; of what is cut one part is put together.
 */
export class CutMessages {
  readonly #parser: MessageParser;
  #cut: Buffer = Buffer.allocUnsafeSlow(firstBytes);
  #filled = 0;

  constructor(parser: MessageParser) {
    this.#parser = parser;
  }

  /** Octets of a part that is not whole. */
  get rest(): number {
    return this.#filled;
  }

  push(chunk: Uint8Array): void {
    const octets = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    let at = 0;
    while (this.#filled > 0 && at < octets.length) at = this.#complete(octets, at);
    if (at === octets.length) return;
    const end = this.#parser.parse(octets, at, octets.length);
    this.#append(octets, end, octets.length - end);
  }

  /** Adds octets to the part that is cut; returns where the next begins, if that part is whole now. */
  #complete(octets: Buffer, at: number): number {
    const wanted = this.#parser.wanted;
    const missing = wanted === 0 ? headBytesMax : wanted - this.#filled;
    const taken = Math.min(missing, octets.length - at);
    this.#append(octets, at, taken);
    if (this.#filled < wanted) return at + taken;
    const parsed = this.#parser.parse(this.#cut, 0, this.#filled);
    if (parsed === 0) return at + taken;
    // Where its length was not known, octets of the next part were taken, too.
    const next = at + taken - (this.#filled - parsed);
    this.#filled = 0;
    if (this.#cut.length > keptBytesMax) this.#cut = Buffer.allocUnsafeSlow(firstBytes);
    return next;
  }

  #append(octets: Buffer, at: number, length: number): void {
    const filled = this.#filled + length;
    if (filled > this.#cut.length) {
      const cut = Buffer.allocUnsafeSlow(Math.max(filled, this.#cut.length * 2, this.#parser.wanted));
      this.#cut.copy(cut, 0, 0, this.#filled);
      this.#cut = cut;
    }
    octets.copy(this.#cut, this.#filled, at, at + length);
    this.#filled = filled;
  }
}

/** @throws ControllerError `ResponseTooLarge` */
export function checkLength(length: number, lengthMax: number): void {
  if (length <= lengthMax) return;
  const message = `a message of ${length} octets is longer than the ${lengthMax} allowed`;
  throw new ControllerError("ResponseTooLarge", message);
}
