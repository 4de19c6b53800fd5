/** What a `FrameReader` found wrong with a stream: it cannot be read on. */
export type FrameProblem = "short" | "long";

/**
 * Takes the messages out of a TCP stream (RFC 1035 §4.2.2: two octets of length before each), however it is cut into
 * chunks. Holds at most one frame that has not arrived whole, in a buffer of the length announced.
 */
export class FrameReader {
  readonly #octetsMin: number;
  readonly #octetsMax: number;
  /** The length's first octet, when a chunk ended between the two; else -1. */
  #firstOctet = -1;
  #frame: Uint8Array | undefined;
  #filled = 0;

  constructor({ octetsMin, octetsMax }: { readonly octetsMin: number; readonly octetsMax: number }) {
    this.#octetsMin = octetsMin;
    this.#octetsMax = octetsMax;
  }

  /** Whether a frame has begun and is not whole. */
  get partial(): boolean {
    return this.#firstOctet >= 0 || this.#frame !== undefined;
  }

  /**
   * Yields each frame that is whole with this chunk, as views that are valid until the next step; then, if the stream is
   * broken, the problem.
   */
  *read(chunk: Uint8Array): Generator<Uint8Array | FrameProblem, void, undefined> {
    let at = 0;
    while (at < chunk.length) {
      if (this.#frame === undefined) {
        const first = this.#firstOctet >= 0 ? this.#firstOctet : chunk[at++]!;
        if (at === chunk.length) {
          this.#firstOctet = first;
          return;
        }
        this.#firstOctet = -1;
        const length = (first << 8) | chunk[at++]!;
        if (length < this.#octetsMin) return yield "short";
        if (length > this.#octetsMax) return yield "long";
        if (at + length <= chunk.length) {
          yield chunk.subarray(at, at + length);
          at += length;
          continue;
        }
        this.#frame = new Uint8Array(length);
        this.#filled = 0;
      }
      const frame: Uint8Array = this.#frame;
      const taken = Math.min(frame.length - this.#filled, chunk.length - at);
      frame.set(chunk.subarray(at, at + taken), this.#filled);
      this.#filled += taken;
      at += taken;
      if (this.#filled < frame.length) return;
      this.#frame = undefined;
      yield frame;
    }
  }
}

/** A message with its length before it, as one buffer, so that it leaves in one segment. */
export function toFrame(message: Uint8Array): Uint8Array {
  const frame = new Uint8Array(message.length + 2);
  frame[0] = message.length >>> 8;
  frame[1] = message.length;
  frame.set(message, 2);
  return frame;
}
