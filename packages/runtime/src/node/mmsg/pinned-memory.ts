import type { Libc } from "./libc.ts";

/**
 * What native code may be using. V8 sees no reference from a C structure to the memory that it points at: without one
 * from here, memory could be collected during a call, when nobody looks at it from JavaScript any more.
 */
const pinned = new Set<ArrayBuffer>();

/** Memory that stays where it is until it is released, with its address. Pages that are never touched cost nothing. */
export class PinnedMemory implements Disposable {
  readonly octets: Uint8Array;
  readonly words: Int32Array;
  readonly address: number;
  readonly #buffer: ArrayBuffer;

  constructor(libc: Libc, octetCount: number) {
    this.#buffer = new ArrayBuffer(octetCount);
    pinned.add(this.#buffer);
    this.octets = new Uint8Array(this.#buffer);
    this.words = new Int32Array(this.#buffer);
    this.address = libc.addressOf(this.#buffer);
  }

  /** Writes a C pointer to `target` of this memory, or another number of 64 bits, at `at`. */
  setPointer(at: number, target: number): void {
    this.setLong(at, this.address + target);
  }

  setLong(at: number, value: number): void {
    this.words[at >>> 2] = (value % 0x1_0000_0000) | 0;
    this.words[(at >>> 2) + 1] = Math.floor(value / 0x1_0000_0000);
  }

  [Symbol.dispose](): void {
    pinned.delete(this.#buffer);
  }
}
