import { createHash } from "node:crypto";
import type { RecordSet } from "@meridian/dns";

/**
 * A digest of record sets by owner that follows changes: replacing one owner costs the same among ten names and ten
 * thousand. Equal contents have equal digests, whatever the order in which they came about.
 */
export class ContentDigest {
  readonly #sum = Buffer.alloc(32);
  readonly #owners = new Map<string, Buffer>();

  /** Puts an owner's record sets in place of its former ones; none removes it. */
  set(owner: string, sets: readonly RecordSet[]): void {
    const before = this.#owners.get(owner);
    if (before !== undefined) this.#toggle(before);
    this.#owners.delete(owner);
    if (sets.length === 0) return;
    const hash = hashOf(owner, sets);
    this.#owners.set(owner, hash);
    this.#toggle(hash);
  }

  /** In hexadecimal. */
  get text(): string {
    return this.#sum.toString("hex");
  }

  /** Adding and taking away are the same for exclusive or. */
  #toggle(hash: Buffer): void {
    for (let index = 0; index < hash.length; index += 1) this.#sum[index]! ^= hash[index]!;
  }
}

function hashOf(owner: string, sets: readonly RecordSet[]): Buffer {
  const lines = sets.map((set) => `${set.type} ${set.ttl} ${[...set.data].sort().join(" ")}`).sort();
  return createHash("sha256")
    .update([owner, ...lines].join("\n"))
    .digest();
}
