import { ControllerError } from "../controller-error.ts";

/** A JSON object that was found in a stream. Its octets are valid until the call that hands it over returns. */
export interface ContainerSpan {
  readonly octets: Buffer;
  readonly start: number;
  /** One past its closing brace. */
  readonly end: number;
  /** Whether all its octets are ASCII. */
  readonly ascii: boolean;
  /** The objects and arrays directly inside it: how many, and where the last one stands. */
  readonly innerCount: number;
  readonly innerStart: number;
  readonly innerEnd: number;
}

/** What to look for, and what to do with it. */
export interface ContainerScannerOptions {
  /** A longer object is refused. */
  readonly containerBytesMax: number;
  /**
   * Reads what stands between two objects, `octets` from `start` to `end`: returns where the next object starts, or
   * `end` if none does. Throws what is wrong there.
   */
  readonly between: (octets: Uint8Array, start: number, end: number) => number;
  /** Takes one object. `stop` ends the scan: nothing after it is looked at. */
  readonly onContainer: (span: ContainerSpan) => "stop" | void;
}

const other = 0;
const quote = 1;
const open = 2;
const close = 3;

/** What an octet outside strings is. All of these are ASCII, so they never occur inside a longer UTF-8 sequence. */
const kinds: Uint8Array = new Uint8Array(256);
kinds[0x22] = quote;
kinds[0x7b] = kinds[0x5b] = open;
kinds[0x7d] = kinds[0x5d] = close;

const quoteOctet = 0x22;
const backslash = 0x5c;
/** Chunks are looked at in portions of this size, so that a huge one costs no second copy of itself. */
const portionBytes = 64 * 1024;
/** Most watches are quiet, and their events small: room grows with what comes. */
const firstBytes = 4 * 1024;

/**
 * Finds the JSON objects of a stream whose chunks are cut anywhere, without parsing them: it counts braces outside
 * strings, and looks at strings, which are most of the octets, four at a time. An object that is cut is put together.
 */
export class ContainerScanner implements ContainerSpan {
  readonly #options: ContainerScannerOptions;
  octets: Buffer = Buffer.allocUnsafeSlow(firstBytes);
  /** The same octets, four by four. */
  #words = wordsOf(this.octets);
  /** Octets that are in use, and how many of them were looked at. */
  #filled = 0;
  #scanned = 0;
  /** Where the object that has begun starts; -1 between objects. */
  start = -1;
  end = 0;
  innerCount = 0;
  innerStart = 0;
  innerEnd = 0;
  /** Open braces and brackets of the object that has begun. */
  #depth = 0;
  #inString = false;
  /** All octets of the strings of this object, or-ed: its high bits tell whether one of them was not ASCII. */
  #seen = 0;
  #stopped = false;

  constructor(options: ContainerScannerOptions) {
    this.#options = options;
  }

  get ascii(): boolean {
    return (this.#seen & 0x80808080) === 0;
  }

  /**
   * Takes the next octets of the stream; they may be reused afterwards.
   *
   * @throws ControllerError `ResponseTooLarge`, and what `between` and `onContainer` throw
   */
  push(chunk: Uint8Array): void {
    for (let from = 0; from < chunk.length && !this.#stopped; from += portionBytes) {
      const portion = chunk.length <= portionBytes ? chunk : chunk.subarray(from, from + portionBytes);
      this.#reserve(portion.length);
      this.octets.set(portion, this.#filled);
      this.#filled += portion.length;
      this.#scan();
      this.#keepRest();
    }
  }

  /** @throws ControllerError `TruncatedResponse` where the stream ends inside an object */
  finish(): void {
    if (this.start < 0) return;
    throw new ControllerError(
      "TruncatedResponse",
      `a stream ended after ${this.#filled - this.start} octets of a document`,
    );
  }

  #scan(): void {
    const { between, onContainer, containerBytesMax } = this.#options;
    while (this.#scanned < this.#filled) {
      if (this.start < 0) {
        const at = between(this.octets, this.#scanned, this.#filled);
        this.#scanned = at;
        if (at === this.#filled) return;
        this.start = at;
        this.#depth = this.#seen = this.innerCount = 0;
      }
      const whole = this.#scanContainer();
      if (this.#scanned - this.start > containerBytesMax) {
        throw new ControllerError(
          "ResponseTooLarge",
          `a document of a stream is longer than the ${containerBytesMax} octets allowed`,
        );
      }
      if (!whole) return;
      this.end = this.#scanned;
      this.#stopped = onContainer(this) === "stop";
      this.start = -1;
      if (this.#stopped) return;
    }
  }

  /** Looks at octets until the object ends (true) or there are no more. Each octet is looked at once. */
  #scanContainer(): boolean {
    const octets = this.octets;
    const words = this.#words;
    const end = this.#filled;
    let at = this.#scanned;
    let depth = this.#depth;
    let inString = this.#inString;
    let seen = this.#seen;
    let whole = false;

    scan: while (at < end) {
      if (!inString) {
        const kind = kinds[octets[at++] as number];
        if (kind === other) continue;
        if (kind === open) {
          if (depth++ === 1) {
            this.innerCount++;
            this.innerStart = at - 1;
          }
          continue;
        }
        if (kind === close) {
          if (--depth === 1) this.innerEnd = at;
          else if (depth === 0) {
            whole = true;
            break;
          }
          continue;
        }
        inString = true;
      }
      while (at < end) {
        if ((at & 3) === 0) {
          for (const last = end - 3; at < last; at += 4) {
            const word = words[at >> 2] as number;
            const quotes = word ^ 0x22222222;
            const backslashes = word ^ 0x5c5c5c5c;
            // A word has an octet of zero if, and only if, this leaves a high bit; octets above 127 may do so as well.
            if (((quotes - 0x01010101) | (backslashes - 0x01010101)) & 0x80808080) break;
            seen |= word;
          }
          if (at >= end) break scan;
        }
        const octet = octets[at] as number;
        seen |= octet;
        if (octet === quoteOctet) {
          at++;
          inString = false;
          break;
        }
        if (octet !== backslash) at++;
        else if (at + 1 < end) at += 2;
        // What the backslash escapes is yet to come: it is looked at again then.
        else break scan;
      }
    }
    this.#scanned = at;
    this.#depth = depth;
    this.#inString = inString;
    this.#seen = seen;
    return whole;
  }

  /** Moves the object that has begun to the front, and lets everything before it go. */
  #keepRest(): void {
    const from = this.start < 0 ? this.#scanned : this.start;
    if (from > 0) {
      this.octets.copyWithin(0, from, this.#filled);
      this.#filled -= from;
      this.#scanned -= from;
      this.innerStart -= from;
      this.innerEnd -= from;
      if (this.start >= 0) this.start = 0;
    }
    if (this.#filled === 0 && this.octets.length > 2 * portionBytes) this.#resize(2 * portionBytes);
  }

  #reserve(more: number): void {
    const wanted = this.#filled + more;
    if (wanted > this.octets.length) this.#resize(Math.max(wanted + 3, this.octets.length * 2) & ~3);
  }

  #resize(length: number): void {
    const octets = Buffer.allocUnsafeSlow(length);
    this.octets.copy(octets, 0, 0, this.#filled);
    this.octets = octets;
    this.#words = wordsOf(octets);
  }
}

const wordsOf = (octets: Buffer): Int32Array => new Int32Array(octets.buffer, 0, octets.length >> 2);
