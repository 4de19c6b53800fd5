import { loadLibc } from "./libc.ts";

/** Of x64, and of arm64 with pages of 4 KiB; where they are larger, the kernel finds none to gather and says so. */
const hugePageOctets = 2 ** 21;
/** Numbers of madvise(2). */
const adviseHuge = 14;
const collapse = 25;

/**
 * Huge pages for shared memory that is read all over: looking up an address costs the processor nothing where a page is 2 MiB,
 * and up to four reads of memory where it is 4 KiB. Only memory that is used already gets them, so that it takes no more.
 *
 * Made by anyone, once or often; Linux only. All of it is advice: a kernel that will not or cannot is not asked again.
 */
export class HugePages {
  /** Kept so that nothing else comes to lie at its address. */
  readonly #memory: SharedArrayBuffer;
  readonly #address: number;
  /** Where the next huge page starts. */
  #at: number;

  /** Advises all that the memory may grow to. */
  constructor(memory: SharedArrayBuffer) {
    const libc = loadLibc();
    this.#memory = memory;
    this.#address = libc.addressOf(new Uint8Array(memory));
    this.#at = Math.ceil(this.#address / hugePageOctets) * hugePageOctets;
    const { maxByteLength } = memory as SharedArrayBuffer & { readonly maxByteLength: number };
    if (libc.madvise(this.#address, maxByteLength, adviseHuge) !== 0) this.#at = Infinity;
  }

  /** Whether there is nothing left to gather: what is added later, the kernel gives in huge pages by itself. */
  get areGathered(): boolean {
    return this.#at + hugePageOctets > this.#address + this.#memory.byteLength;
  }

  /** Copies the next 2 MiB of small pages to a huge one: a millisecond, in which readers of these wait. */
  gather(): void {
    // Linux before 6.1 does not know it, and memory may be short: the kernel does it in a minute or later then.
    if (loadLibc().madvise(this.#at, hugePageOctets, collapse) === 0) this.#at += hugePageOctets;
    else this.#at = Infinity;
  }
}
