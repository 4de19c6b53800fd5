import {
  ReusedClient,
  type AnswerDatagram,
  type DatagramClient,
  type TcpConnection,
} from "@meridian/runtime";
import { FrameReader } from "../message/frame-reader.ts";
import { headerOctets } from "../message/header.ts";

/** Questions are short; what announces more is no client of ours. */
const frameOctetsMax = 16 * 1024;
/** Answers wait together up to this size, then they leave before the next question is looked at. */
const batchOctetsMax = 64 * 1024;

/** One TCP client: its questions are answered in order, all that came in one read with one write. */
export class TcpSession {
  /** When the last whole question was there, or the connection began. */
  activeMs: number;
  asked = 0;
  /** Since when a write has not been taken, or undefined. */
  writingSinceMs: number | undefined;
  readonly #connection: TcpConnection;
  readonly #answer: AnswerDatagram;
  readonly #output: Uint8Array;
  readonly #monotonicMs: () => number;
  readonly #client: DatagramClient;
  #draining = false;
  #busy = false;

  constructor(options: {
    readonly connection: TcpConnection;
    readonly answer: AnswerDatagram;
    /** Where answers are written; shared by all sessions, since an answer is copied out at once. */
    readonly output: Uint8Array;
    readonly monotonicMs: () => number;
  }) {
    this.#connection = options.connection;
    this.#answer = options.answer;
    this.#output = options.output;
    this.#monotonicMs = options.monotonicMs;
    this.activeMs = options.monotonicMs();
    this.#client = new ReusedClient("tcp", options.connection.remote);
  }

  /**
   * Serves the connection until either side ends it. `onActive` is called with each question.
   *
   * @returns whether it ended by the rules; false when it was reset
   */
  async run(onActive: () => void): Promise<boolean> {
    const frames = new FrameReader({ octetsMin: headerOctets, octetsMax: frameOctetsMax });
    const output = this.#output;
    let batch = new Uint8Array(2048);
    let filled = 0;
    try {
      for await (const chunk of this.#connection.received) {
        this.#busy = true;
        for (const frame of frames.read(chunk)) {
          if (typeof frame === "string") return this.#reset();
          const length = this.#answer(frame, 0, frame.length, this.#client, output);
          // What gets no answer on UDP is no question: a client that sends it is not to be trusted with a connection.
          if (length === 0) return this.#reset();
          this.asked++;
          this.activeMs = this.#monotonicMs();
          onActive();
          if (filled + length + 2 > batch.length) batch = grow(batch, filled + length + 2);
          batch[filled] = length >>> 8;
          batch[filled + 1] = length;
          // Out of the shared buffer before anything is awaited.
          batch.set(output.subarray(0, length), filled + 2);
          filled += length + 2;
          if (filled < batchOctetsMax) continue;
          await this.#write(batch.subarray(0, filled));
          filled = 0;
        }
        if (filled > 0) await this.#write(batch.subarray(0, filled));
        filled = 0;
        this.#busy = false;
        if (this.#draining) break;
      }
      // The client may have closed its side only: its answers are out, so ours follows.
      await this.#connection.end();
      return true;
    } catch {
      return this.#reset();
    }
  }

  /** Ends the connection after the answers that are due. */
  drain(): void {
    this.#draining = true;
    if (!this.#busy) this.#connection.end().catch(() => this.#connection.destroy());
  }

  reset(): void {
    this.#connection.destroy();
  }

  #reset(): false {
    this.#connection.destroy();
    return false;
  }

  async #write(octets: Uint8Array): Promise<void> {
    this.writingSinceMs = this.#monotonicMs();
    await this.#connection.write(octets);
    this.writingSinceMs = undefined;
  }
}

function grow(octets: Uint8Array<ArrayBuffer>, needed: number): Uint8Array<ArrayBuffer> {
  const grown = new Uint8Array(Math.max(needed, 2 * octets.length));
  grown.set(octets);
  return grown;
}
