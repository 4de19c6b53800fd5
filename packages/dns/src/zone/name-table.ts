import type { LookupName } from "../name/lookup-name.ts";
import type { Name } from "../name/name.ts";

/** What a `NameTable` holds. */
export interface Named {
  /** Folded. */
  readonly name: Name;
  /** Set by the table. */
  hash: number;
}

/**
 * Entries by name, found from any suffix of a `LookupName` without allocation. Open addressing with linear probing;
 * the hash is seeded per process, so nobody can choose names that collide.
 */
export class NameTable<Entry extends Named> {
  #entries: (Entry | undefined)[] = [undefined, undefined];
  #hashes: Int32Array = new Int32Array(2);
  #mask = 1;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The entry named by the suffix that starts at label `label`. */
  find(name: LookupName, label: number): Entry | undefined {
    const hash = name.hashes[label]!;
    const hashes = this.#hashes;
    const mask = this.#mask;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = this.#entries[slot];
      if (entry === undefined) return undefined;
      if (hashes[slot] === hash && isSuffix(entry.name, name, name.starts[label]!)) return entry;
    }
  }

  /** Adds an entry whose name is not in the table yet. */
  add(entry: Entry, hash: number): void {
    if ((this.#size + 1) * 2 > this.#mask) this.#resize((this.#mask + 1) * 2);
    entry.hash = hash;
    this.#put(entry);
    this.#size++;
  }

  remove(entry: Entry): void {
    let slot = entry.hash & this.#mask;
    while (this.#entries[slot] !== entry) {
      if (this.#entries[slot] === undefined) return;
      slot = (slot + 1) & this.#mask;
    }
    this.#size--;
    // Entries behind the gap move into it unless they would then stand before their own slot.
    for (
      let next = (slot + 1) & this.#mask;
      this.#entries[next] !== undefined;
      next = (next + 1) & this.#mask
    ) {
      const home = this.#hashes[next]! & this.#mask;
      if (((next - home) & this.#mask) < ((next - slot) & this.#mask)) continue;
      this.#entries[slot] = this.#entries[next];
      this.#hashes[slot] = this.#hashes[next]!;
      slot = next;
    }
    this.#entries[slot] = undefined;
  }

  *values(): IterableIterator<Entry> {
    for (const entry of this.#entries) if (entry !== undefined) yield entry;
  }

  #put(entry: Entry): void {
    let slot = entry.hash & this.#mask;
    while (this.#entries[slot] !== undefined) slot = (slot + 1) & this.#mask;
    this.#entries[slot] = entry;
    this.#hashes[slot] = entry.hash;
  }

  #resize(capacity: number): void {
    const entries = this.#entries;
    this.#entries = Array<Entry | undefined>(capacity).fill(undefined);
    this.#hashes = new Int32Array(capacity);
    this.#mask = capacity - 1;
    for (const entry of entries) if (entry !== undefined) this.#put(entry);
  }
}

function isSuffix(name: Name, lookup: LookupName, start: number): boolean {
  const length = name.length;
  if (lookup.length - start !== length) return false;
  const octets = lookup.octets;
  for (let index = 0; index < length; index++) if (octets[start + index] !== name[index]) return false;
  return true;
}
