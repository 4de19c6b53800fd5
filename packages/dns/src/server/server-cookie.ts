import type { Clock, DatagramClient } from "@meridian/runtime";
import { SipHash } from "./sip-hash.ts";

const clientOctets = 8;

/** Data octets of the COOKIE option in our answers: the client's 8 and the server's 16 (RFC 9018 §4). */
export const cookieOctets = 24;

/** Makes server cookies (RFC 9018): a client that repeats one has shown that it can receive at its address. */
export class ServerCookie {
  readonly #hash: SipHash;
  readonly #clock: Clock;
  readonly #block: Uint8Array = new Uint8Array(32);

  constructor(options: { readonly secret: Uint8Array; readonly clock: Clock }) {
    this.#hash = new SipHash(options.secret);
    this.#clock = options.clock;
  }

  /** Writes a fresh cookie for the client cookie at `input[at]` and returns the offset behind it. */
  write(
    output: Uint8Array,
    outputAt: number,
    source: { input: Uint8Array; at: number; client: DatagramClient },
  ): number {
    const block = this.#block;
    for (let index = 0; index < clientOctets; index++) block[index] = source.input[source.at + index]!;
    const seconds = Math.floor(this.#clock.now() / 1000) >>> 0;
    block[8] = 1;
    block.fill(0, 9, 12);
    writeUint32(block, 12, seconds);
    const { octets, octetCount } = source.client;
    for (let index = 0; index < octetCount; index++) block[16 + index] = octets[index]!;
    const hash = this.#hash;
    hash.hash(block, 16 + octetCount);
    for (let index = 0; index < 16; index++) output[outputAt + index] = block[index]!;
    writeHalf(output, outputAt + 16, hash.low);
    writeHalf(output, outputAt + 20, hash.high);
    return outputAt + cookieOctets;
  }
}

function writeUint32(octets: Uint8Array, at: number, value: number): void {
  octets[at] = value >>> 24;
  octets[at + 1] = value >>> 16;
  octets[at + 2] = value >>> 8;
  octets[at + 3] = value;
}

function writeHalf(octets: Uint8Array, at: number, value: number): void {
  octets[at] = value;
  octets[at + 1] = value >>> 8;
  octets[at + 2] = value >>> 16;
  octets[at + 3] = value >>> 24;
}
