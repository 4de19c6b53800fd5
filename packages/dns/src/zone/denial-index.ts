import type { Name } from "../name/name.ts";
import type { Arena } from "./arena.ts";
import { compareNames } from "./canonical-order.ts";
import { node as nodeWord } from "./zone-layout.ts";
import type { ZoneView } from "./zone-view.ts";

/** Up to here each that goes is searched for by itself. */
const soughtMax = 32;

/**
 * The nodes that own NSEC, or NSEC3, in canonical order, in a zone's memory: what covers a name that does not exist is then
 * found by halving. Changes are gathered and made together.
 */
export class DenialIndex {
  readonly #arena: Arena;
  /** The header word that says where the list is; the next one says how many it has. */
  readonly #word: number;
  #capacity = 0;
  #added: number[] = [];
  readonly #removed = new Set<number>();

  constructor(arena: Arena, word: number) {
    this.#arena = arena;
    this.#word = word;
    arena.words[word] = 0;
    arena.words[word + 1] = 0;
  }

  /** Words of memory that `apply` takes at most, with so many nodes more than are known now. */
  wordsFor(more: number): number {
    const total = this.#count + this.#added.length + more;
    return total > this.#capacity ? capacityFor(total) : 0;
  }

  add(node: number): void {
    this.#added.push(node);
  }

  /** The node may be used for another name before `apply`. */
  remove(node: number): void {
    const index = this.#added.indexOf(node);
    if (index >= 0) this.#added.splice(index, 1);
    else this.#removed.add(node);
  }

  /** Makes the changes. Readers must be kept from believing what they read meanwhile. */
  apply(): void {
    if (this.#removed.size > 0) this.#compact();
    if (this.#added.length > 0) this.#merge();
  }

  get #count(): number {
    return this.#arena.words[this.#word + 1]!;
  }

  /** Takes removed nodes out, by their number alone: their names may be others' by now. */
  #compact(): void {
    const { words } = this.#arena;
    const start = words[this.#word]!;
    let end = start + this.#count;
    if (this.#removed.size <= soughtMax) {
      for (const node of this.#removed) {
        const index = words.subarray(start, end).indexOf(node);
        if (index >= 0) words.copyWithin(start + index, start + index + 1, end--);
      }
    } else {
      let to = start;
      for (let at = start; at < end; at++) if (!this.#removed.has(words[at]!)) words[to++] = words[at]!;
      end = to;
    }
    words[this.#word + 1] = end - start;
    this.#removed.clear();
  }

  #merge(): void {
    const arena = this.#arena;
    const added = this.#added;
    this.#added = [];
    const { octets } = arena;
    // They mostly come in order, which sorting is quick with.
    added.sort((left, right) => compareNames(octets, nameAt(left), octets, nameAt(right)));
    const count = this.#count;
    const total = count + added.length;
    if (total > this.#capacity) this.#grow(total);
    const { words } = arena;
    const start = words[this.#word]!;
    let end = start + count;
    for (let index = added.length - 1; index >= 0; index--) {
      const node = added[index]!;
      let low = start;
      for (let high = end; low < high;) {
        const middle = (low + high) >>> 1;
        if (compareNames(octets, nameAt(words[middle]!), octets, nameAt(node)) < 0) low = middle + 1;
        else high = middle;
      }
      words.copyWithin(low + index + 1, low, end);
      words[low + index] = node;
      end = low;
    }
    words[this.#word + 1] = total;
  }

  #grow(total: number): void {
    const arena = this.#arena;
    const capacity = capacityFor(total);
    const at = arena.allocate(capacity);
    const { words } = arena;
    const former = words[this.#word]!;
    words.copyWithin(at, former, former + this.#count);
    if (former !== 0) arena.free(former, this.#capacity);
    words[this.#word] = at;
    this.#capacity = capacity;
  }
}

/**
 * The place in a list of the last name that is not behind the given one, in lower case; of the last name of all where there is
 * none, since the list is a ring. -1 where it is empty.
 */
export function precedingPlace(view: ZoneView, word: number, name: Name): number {
  const { words, octets } = view;
  const start = words[word]!;
  const count = words[word + 1]!;
  let low = 0;
  for (let high = count; low < high;) {
    const middle = (low + high) >>> 1;
    if (compareNames(octets, nameAt(words[start + middle]!), name, 0) <= 0) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? count - 1 : low - 1;
}

function nameAt(node: number): number {
  return (node + nodeWord.name) * 4;
}

function capacityFor(count: number): number {
  return count === 0 ? 0 : count + (count >>> 3) + 16;
}
