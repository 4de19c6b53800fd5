import type { Libc } from "./libc.ts";
import { PinnedMemory } from "./pinned-memory.ts";
import { socketAddress } from "./socket-address.ts";

/** `struct mmsghdr` of 64-bit Linux, in octets: a `struct msghdr`, then the length of the message. */
const headerOctets = 64;
const headerAt = {
  name: 0,
  nameLength: 8,
  vector: 16,
  vectorCount: 24,
  control: 32,
  controlLength: 40,
} as const;
/** Places in a header, in words of 32 bits. */
const controlLengthWord = headerAt.controlLength >>> 2;
const messageLengthWord = 56 >>> 2;
const vectorOctets = 16;
const addressStride = 32;
const controlStride = 64;
const datagramOctetsMax = 65_535;
/**
 * Room for the longest datagram, so that none is ever cut short; only the pages that are used exist. The odd number of
 * cache lines keeps the beginnings of messages, which are all that most use, in different sets of the cache.
 */
const messageStride = 65_536 + 5 * 64;

/** Room for `struct in_pktinfo` and `struct in6_pktinfo` with their headers, by the octets of an address. */
const controlOctets = { 4: 32, 16: 40 } as const;

/**
 * The structures that `recvmmsg` and `sendmmsg` take, written once: received message `i` goes to input `i`, its sender to
 * address `i`; message to send `k` comes from output `k`.
 */
export class BatchMemory implements Disposable {
  readonly octets: Uint8Array;
  /** Addresses of the arrays of headers. */
  readonly receiveHeaders: number;
  readonly sendHeaders: number;
  /** Where message `k` that is to be sent is written. */
  readonly outputs: readonly Uint8Array[];
  /** Octets of a sender's address and of the message about where it was received, 0 without. */
  readonly addressOctets: 16 | 28;
  readonly controlOctets: 0 | 32 | 40;
  readonly #memory: PinnedMemory;
  readonly #words: Int32Array;
  readonly #sendHeadersAt: number;
  readonly #vectorsAt: number;
  readonly #addressesAt: number;
  readonly #controlsAt: number;
  readonly #inputsAt: number;
  /** Whose sender each message to send goes to now. */
  readonly #receivers: Uint16Array;

  constructor(
    libc: Libc,
    layout: { readonly width: number; readonly octetCount: 4 | 16; readonly withControl: boolean },
  ) {
    const { width, octetCount, withControl } = layout;
    this.addressOctets = socketAddress[octetCount].octets;
    this.controlOctets = withControl ? controlOctets[octetCount] : 0;
    this.#sendHeadersAt = width * headerOctets;
    this.#vectorsAt = 2 * this.#sendHeadersAt;
    this.#addressesAt = this.#vectorsAt + 2 * width * vectorOctets;
    this.#controlsAt = this.#addressesAt + width * addressStride;
    this.#inputsAt = this.#controlsAt + width * controlStride;
    const outputsAt = this.#inputsAt + width * messageStride;
    this.#memory = new PinnedMemory(libc, outputsAt + width * messageStride);
    this.octets = this.#memory.octets;
    this.#words = this.#memory.words;
    this.receiveHeaders = this.#memory.address;
    this.sendHeaders = this.#memory.address + this.#sendHeadersAt;
    this.outputs = Array.from({ length: width }, (_, index) => {
      const start = outputsAt + index * messageStride;
      return this.octets.subarray(start, start + datagramOctetsMax);
    });
    this.#receivers = Uint16Array.from({ length: width }, (_, index) => index);
    for (let index = 0; index < width; index++) {
      this.#point(index, { headersAt: 0, vector: index, message: this.inputAt(index) });
      this.#point(index, {
        headersAt: this.#sendHeadersAt,
        vector: width + index,
        message: outputsAt + index * messageStride,
      });
      this.#memory.setLong(this.#vectorsAt + index * vectorOctets + 8, datagramOctetsMax);
    }
  }

  /** Address of the header of message `index` that is to be sent. */
  sendHeader(index: number): number {
    return this.sendHeaders + index * headerOctets;
  }

  inputAt(index: number): number {
    return this.#inputsAt + index * messageStride;
  }

  addressAt(index: number): number {
    return this.#addressesAt + index * addressStride;
  }

  controlAt(index: number): number {
    return this.#controlsAt + index * controlStride;
  }

  /** Octets of received message `index`. */
  receivedOctets(index: number): number {
    return this.#words[index * (headerOctets >>> 2) + messageLengthWord]!;
  }

  /** Makes message `index` go to whom message `receiver` came from, with `octetCount` octets of its output. */
  setSend(index: number, receiver: number, octetCount: number): void {
    const words = this.#words;
    words[(this.#vectorsAt + (this.outputs.length + index) * vectorOctets + 8) >>> 2] = octetCount;
    if (this.#receivers[index] !== receiver) this.#redirect(index, receiver);
    if (this.controlOctets > 0) this.#copyControl(index, receiver);
  }

  [Symbol.dispose](): void {
    this.#memory[Symbol.dispose]();
  }

  #point(
    index: number,
    to: { readonly headersAt: number; readonly vector: number; readonly message: number },
  ): void {
    const memory = this.#memory;
    const at = to.headersAt + index * headerOctets;
    const vectorAt = this.#vectorsAt + to.vector * vectorOctets;
    memory.setPointer(vectorAt, to.message);
    memory.setPointer(at + headerAt.name, this.addressAt(index));
    // Exactly what the kernel writes back, so that it need not be set again for each receive.
    memory.words[(at + headerAt.nameLength) >>> 2] = this.addressOctets;
    memory.setPointer(at + headerAt.vector, vectorAt);
    memory.setLong(at + headerAt.vectorCount, 1);
    if (this.controlOctets === 0) return;
    memory.setPointer(at + headerAt.control, this.controlAt(index));
    memory.setLong(at + headerAt.controlLength, this.controlOctets);
  }

  #redirect(index: number, receiver: number): void {
    const at = this.#sendHeadersAt + index * headerOctets;
    this.#memory.setPointer(at + headerAt.name, this.addressAt(receiver));
    if (this.controlOctets > 0) this.#memory.setPointer(at + headerAt.control, this.controlAt(receiver));
    this.#receivers[index] = receiver;
  }

  /** What the kernel told about where a message arrived is what it takes for where its answer leaves from. */
  #copyControl(index: number, receiver: number): void {
    const words = this.#words;
    const received = receiver * (headerOctets >>> 2) + controlLengthWord;
    words[((this.#sendHeadersAt + index * headerOctets) >>> 2) + controlLengthWord] = words[received]!;
    words[received] = this.controlOctets;
    this.#clearInterface(this.controlAt(receiver));
  }

  /** Which interface an answer leaves by is for the routes to say, save where an address means something on one only. */
  #clearInterface(controlAt: number): void {
    const { octets } = this;
    const dataAt = controlAt + 16;
    const isV4 = this.controlOctets === 32;
    if (!isV4 && octets[dataAt] === 0xfe && (octets[dataAt + 1]! & 0xc0) === 0x80) return;
    this.#words[(isV4 ? dataAt : dataAt + 16) >>> 2] = 0;
  }
}
