import { randomFillSync, randomUUID } from "node:crypto";

import type { Random } from "../random.ts";

const poolBytes = 4096;

/** Cryptographic random numbers, drawn from the system a page at a time. */
export class NodeRandom implements Random {
  readonly #pool = Buffer.alloc(poolBytes);
  #used = poolBytes;

  uint32(): number {
    const offset = this.#take(4);
    const value = this.#pool.readUInt32LE(offset);
    this.#pool.fill(0, offset, offset + 4); // a drawn number cannot be read out of memory later
    return value;
  }

  float(): number {
    return (this.uint32() * 0x200000 + (this.uint32() >>> 11)) / 0x20000000000000;
  }

  bytes(length: number): Uint8Array {
    return randomFillSync(new Uint8Array(length));
  }

  uuid(): string {
    return randomUUID();
  }

  #take(bytes: number): number {
    if (this.#used + bytes > poolBytes) {
      randomFillSync(this.#pool);
      this.#used = 0;
    }
    const offset = this.#used;
    this.#used += bytes;
    return offset;
  }
}
