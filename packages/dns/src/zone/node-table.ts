import type { Arena } from "./arena.ts";
import { header } from "./zone-layout.ts";

const slotsMin = 16;

/**
 * The nodes of a zone by the hash of their names: open addressing with linear probing, written by one thread and read by
 * others through `ZoneView.find`. The hash is seeded, so nobody can choose names that collide.
 */
export class NodeTable {
  readonly #arena: Arena;
  #entries = 0;

  constructor(arena: Arena) {
    this.#arena = arena;
  }

  /** Makes sure that so many more nodes can be inserted. The table is replaced as a whole, so it is never seen half filled. */
  reserve(more: number): void {
    const { words } = this.#arena;
    const slots = words[header.table] === 0 ? 0 : words[header.mask]! + 1;
    let needed = Math.max(slotsMin, slots);
    // Three of five slots at most are taken.
    while ((this.#entries + more) * 5 > needed * 3) needed *= 2;
    if (needed > slots) this.#replace(needed, slots);
  }

  /** Adds a node that is not there yet, within what was reserved. */
  insert(hash: number, node: number): void {
    const { words } = this.#arena;
    this.#put(words[header.table]!, words[header.mask]!, { hash, node });
    this.#entries++;
  }

  remove(hash: number, node: number): void {
    const { words } = this.#arena;
    const table = words[header.table]!;
    const mask = words[header.mask]!;
    let slot = hash & mask;
    while (words[table + 2 * slot + 1] !== node) {
      if (words[table + 2 * slot + 1] === 0) return;
      slot = (slot + 1) & mask;
    }
    this.#entries--;
    // Entries behind the gap move into it unless they would then stand before their own slot.
    for (let next = (slot + 1) & mask; words[table + 2 * next + 1] !== 0; next = (next + 1) & mask) {
      const home = words[table + 2 * next]! & mask;
      if (((next - home) & mask) < ((next - slot) & mask)) continue;
      words[table + 2 * slot] = words[table + 2 * next]!;
      words[table + 2 * slot + 1] = words[table + 2 * next + 1]!;
      slot = next;
    }
    words[table + 2 * slot + 1] = 0;
  }

  /** Forgets all nodes; there is room for as many again. */
  clear(): void {
    const { words } = this.#arena;
    const table = words[header.table]!;
    words.fill(0, table, table + 2 * (words[header.mask]! + 1));
    this.#entries = 0;
  }

  #replace(slots: number, formerSlots: number): void {
    const arena = this.#arena;
    const table = arena.allocate(2 * slots);
    const { words } = arena;
    words.fill(0, table, table + 2 * slots);
    const former = words[header.table]!;
    for (let slot = 0; slot < formerSlots; slot++) {
      const node = words[former + 2 * slot + 1]!;
      if (node !== 0) this.#put(table, slots - 1, { hash: words[former + 2 * slot]!, node });
    }
    const sequence = words[header.sequence]!;
    Atomics.add(words, header.sequence, 1);
    words[header.table] = table;
    words[header.mask] = slots - 1;
    Atomics.store(words, header.sequence, sequence + 2);
    Atomics.notify(words, header.sequence);
    if (formerSlots > 0) arena.free(former, 2 * formerSlots);
  }

  #put(table: number, mask: number, entry: { readonly hash: number; readonly node: number }): void {
    const { words } = this.#arena;
    let slot = entry.hash & mask;
    while (words[table + 2 * slot + 1] !== 0) slot = (slot + 1) & mask;
    words[table + 2 * slot] = entry.hash;
    words[table + 2 * slot + 1] = entry.node;
  }
}
