import { LookupName } from "../name/lookup-name.ts";
import { countLabels, isWildcardName, type Name } from "../name/name.ts";
import { Arena } from "./arena.ts";
import { DenialIndex } from "./denial-index.ts";
import { NodeTable } from "./node-table.ts";
import { content, contentFlag, header, node as nodeWord, nodeFlag, set as setWord } from "./zone-layout.ts";
import { ZoneView } from "./zone-view.ts";

/** What an owner is to have: a content as `ContentBuilder` makes it, or nothing. */
export interface OwnerChange {
  /** Folded, in the zone. */
  readonly name: Name;
  /** A copy of its own, or a view of the builder's for a single change. */
  readonly words: Int32Array | undefined;
}

/** Whoever answers from a tree. */
export interface TreeServer {
  /** Its zone has another tree from now on. */
  treeReplaced(): void;
}

/** Changes that become visible together. */
export interface ZoneChanges {
  readonly owners: readonly OwnerChange[];
  /** The SOA as negative answers have it, a content with one set; absent: as it is, but for the serial. */
  readonly negativeSoa?: Int32Array;
  readonly serial: number;
}

/** What a snapshot needs to know of changes after it was made. */
export interface Pin {
  /** The newest node at that moment. */
  readonly head: number;
  /** Contents at that moment of nodes that have another one since. */
  readonly before: Map<number, number>;
}

/**
 * The nodes of a zone, written by one thread. Every ancestor of an owner up to the apex is a node, so that empty
 * non-terminals exist (RFC 8020) and the closest encloser is the first suffix found.
 *
 * A change is made in two steps: all memory is had and filled, then everything is published between two steps of the
 * sequence, which makes void whatever readers were doing. So memory that is freed by a change can be used again by the
 * next at once: nobody who still reads it will believe it.
 */
export class ZoneTree {
  readonly origin: Name;
  readonly apex: number;
  /** The authority whose seed the names are hashed with. */
  servedBy: TreeServer | undefined;
  readonly #arena: Arena;
  readonly #view: ZoneView;
  readonly #table: NodeTable;
  readonly #nsec: DenialIndex;
  readonly #nsec3: DenialIndex;
  #lookup: LookupName;
  /** The newest node; all are chained from it. */
  #head = 0;
  readonly #pins = new Set<Pin>();
  /** Blocks freed while pinned: pairs of place and words. */
  #pinned: number[] = [];
  #deadNodes: number[] = [];

  /** @param seed of whoever will answer from it, so that names need not be hashed again then */
  constructor(origin: Name, seed = 0) {
    this.origin = origin;
    this.#lookup = new LookupName(seed);
    this.#arena = new Arena(header.words);
    const { words, octets } = this.#arena;
    words[header.originLength] = origin.length;
    words[header.originLabels] = countLabels(origin);
    words[header.seed] = seed;
    octets.set(origin, header.origin * 4);
    this.#nsec = new DenialIndex(this.#arena, header.nsec);
    this.#nsec3 = new DenialIndex(this.#arena, header.nsec3);
    words[header.presigned] = 0;
    this.#table = new NodeTable(this.#arena);
    this.#view = new ZoneView(this.#arena.memory);
    this.#lookup.set(origin);
    this.apex = this.#addNode(origin, { parent: 0, hash: this.#lookup.hashes[0]! });
  }

  get memory(): SharedArrayBuffer {
    return this.#arena.memory;
  }

  /** For the writing thread: what it reads is always current. */
  get view(): ZoneView {
    if (this.#view.octets.length !== this.#arena.octets.length) this.#view.refresh();
    return this.#view;
  }

  get names(): number {
    return this.#arena.words[header.names]!;
  }

  get usedOctets(): number {
    return this.#arena.usedOctets;
  }

  /** Another number after each change. */
  get generation(): number {
    return this.#arena.words[header.sequence]!;
  }

  set ready(ready: boolean) {
    Atomics.store(this.#arena.words, header.ready, Number(ready));
  }

  get ready(): boolean {
    return this.#arena.words[header.ready] !== 0;
  }

  /** Whether the apex has signatures. */
  get presigned(): boolean {
    return this.#arena.words[header.presigned] !== 0;
  }

  get seed(): number {
    return this.#arena.words[header.seed]!;
  }

  /** Hashes all names anew under another seed, the one that questions are hashed with. */
  reseed(seed: number): void {
    const arena = this.#arena;
    if (arena.words[header.seed] === seed) return;
    this.#lookup = new LookupName(seed);
    arena.words[header.seed] = seed;
    this.#table.clear();
    for (let at = this.#head; at !== 0; at = arena.words[at + nodeWord.next]!) {
      if ((arena.words[at + nodeWord.info]! & nodeFlag.dead) !== 0) continue;
      this.#readName(at);
      const hash = this.#lookup.hashes[0]!;
      this.#table.reserve([hash]);
      arena.words[at + nodeWord.hash] = hash;
      this.#table.insert(hash, at);
    }
  }

  /** The node of a folded name, or 0. */
  find(name: Name): number {
    this.#lookup.set(name);
    return this.view.find(this.#lookup, 0);
  }

  contentOf(node: number): number {
    return this.#arena.words[node + nodeWord.content]!;
  }

  /** Whether an owner has exactly this content already. */
  has({ name, words }: OwnerChange): boolean {
    const node = this.find(name);
    const present = node === 0 ? 0 : this.contentOf(node);
    if (present === 0 || words === undefined) return present === 0 && words === undefined;
    const memory = this.#arena.words;
    const length = words[content.size]!;
    for (let index = 0; index < length; index++) if (memory[present + index] !== words[index]) return false;
    return true;
  }

  /** All nodes but dead ones. */
  *nodes(): IterableIterator<number> {
    for (let at = this.#head; at !== 0; at = this.#arena.words[at + nodeWord.next]!)
      if ((this.#arena.words[at + nodeWord.info]! & nodeFlag.dead) === 0) yield at;
  }

  /** Makes changes, and makes them visible together. @throws DnsError `TooLarge`, and then nothing is changed */
  publish({ owners, negativeSoa, serial }: ZoneChanges): void {
    const arena = this.#arena;
    this.#reserve(owners, negativeSoa);
    const soa = negativeSoa === undefined ? 0 : this.#store(negativeSoa);
    const stored = owners.length === 1 ? 0 : owners.length;
    const blocks = new Int32Array(stored);
    for (let index = 0; index < stored; index++) blocks[index] = this.#store(owners[index]!.words);
    const only = stored === 0 && owners.length === 1 ? this.#store(owners[0]!.words) : 0;
    const sequence = arena.words[header.sequence]!;
    // A read-modify-write, so that no processor moves what follows before it.
    Atomics.add(arena.words, header.sequence, 1);
    try {
      for (let index = 0; index < owners.length; index++)
        this.#put(owners[index]!.name, stored === 0 ? only : blocks[index]!);
      this.#nsec.apply();
      this.#nsec3.apply();
      if (soa !== 0) {
        const former = arena.words[header.negativeSoa]!;
        arena.words[header.negativeSoa] = soa + content.sets;
        if (former !== 0) this.#free(former - content.sets);
      }
      this.#writeSerial(serial);
    } finally {
      // Readers wait for an even number.
      Atomics.store(arena.words, header.sequence, sequence + 2);
      Atomics.notify(arena.words, header.sequence);
    }
  }

  /**
   * Puts an owner's content at once, without a word to readers: for trees that nobody reads yet. `words` is only read.
   *
   * @throws DnsError `TooLarge`
   */
  insert(change: OwnerChange): void {
    this.#reserve([change], undefined);
    this.#put(change.name, this.#store(change.words));
  }

  /** Keeps what is there now readable until `unpin`. */
  pin(): Pin {
    const pin: Pin = { head: this.#head, before: new Map() };
    this.#pins.add(pin);
    return pin;
  }

  unpin(pin: Pin): void {
    if (!this.#pins.delete(pin) || this.#pins.size > 0) return;
    for (let index = 0; index < this.#pinned.length; index += 2)
      this.#arena.free(this.#pinned[index]!, this.#pinned[index + 1]!);
    this.#pinned = [];
    for (const node of this.#deadNodes) this.#dropNode(node);
    this.#deadNodes = [];
  }

  /** Nodes and contents as they were when a pin was set. */
  *pinnedContents({
    head,
    before,
  }: Pin): IterableIterator<{ readonly node: number; readonly content: number }> {
    for (let at = head; at !== 0; at = this.#arena.words[at + nodeWord.next]!) {
      const found = before.get(at) ?? this.contentOf(at);
      if (found !== 0) yield { node: at, content: found };
    }
  }

  /** Makes sure that publishing needs no memory that could be missing. */
  #reserve(owners: readonly OwnerChange[], negativeSoa: Int32Array | undefined): void {
    let words = negativeSoa?.length ?? 0;
    let blocks = 3;
    let [denials, hashedDenials] = [0, 0];
    const hashes: number[] = [];
    const lookup = this.#lookup;
    for (const { name, words: given } of owners) {
      if (given === undefined) continue;
      words += given[content.size]!;
      blocks++;
      if ((given[content.info]! & contentFlag.nsec) !== 0) denials++;
      if ((given[content.info]! & contentFlag.nsec3) !== 0) hashedDenials++;
      lookup.set(name);
      // It ends at the apex at last, which always exists.
      for (let label = 0; this.view.find(lookup, label) === 0; label++) {
        words += nodeWords(lookup.length - lookup.starts[label]!);
        hashes.push(lookup.hashes[label]!);
      }
    }
    // The table first: it takes from what is reserved.
    if (hashes.length > 0) this.#table.reserve(hashes);
    if (negativeSoa !== undefined || denials + hashedDenials > 0)
      words += this.#nsec.wordsFor(denials) + this.#nsec3.wordsFor(hashedDenials);
    this.#arena.reserve(words, blocks + hashes.length);
  }

  #store(words: Int32Array | undefined): number {
    if (words === undefined) return 0;
    const arena = this.#arena;
    const length = words[content.size]!;
    const at = arena.allocate(length);
    const memory = arena.words;
    for (let index = 0; index < length; index++) memory[at + index] = words[index]!;
    return at;
  }

  /** Puts a content in place of an owner's former one; 0 removes it. */
  #put(name: Name, contentAt: number): void {
    const { words } = this.#arena;
    const node = contentAt === 0 ? this.find(name) : this.#ensure(name);
    if (node === 0) return;
    const former = words[node + nodeWord.content]!;
    this.#remember(node, former);
    words[node + nodeWord.content] = contentAt;
    const info = words[node + nodeWord.info]!;
    const contentInfo = contentAt === 0 ? 0 : words[contentAt + content.info]!;
    const flags = breakFlags(contentInfo, node === this.apex);
    const wasBreak = (info & breakMask) !== 0;
    words[node + nodeWord.info] = (info & ~breakMask) | flags;
    const formerInfo = former === 0 ? 0 : words[former + content.info]!;
    if (node === this.apex) words[header.presigned] = Number((contentInfo & contentFlag.rrsig) !== 0);
    if (((formerInfo | contentInfo) & denialMask) !== 0) this.#index(node, formerInfo, contentInfo);
    words[header.breaks]! += Number(flags !== 0) - Number(wasBreak);
    if (former !== 0) this.#free(former);
    if (contentAt === 0) this.#prune(node);
  }

  /** Keeps the lists of denials, by the flags of a node's content before and after a change. */
  #index(node: number, before: number, after: number): void {
    this.#keep(this.#nsec, node, { before, after, flag: contentFlag.nsec });
    this.#keep(this.#nsec3, node, { before, after, flag: contentFlag.nsec3 });
  }

  #keep(
    index: DenialIndex,
    node: number,
    { before, after, flag }: { readonly before: number; readonly after: number; readonly flag: number },
  ): void {
    if (((before ^ after) & flag) === 0) return;
    if ((after & flag) === 0) index.remove(node);
    else index.add(node);
  }

  /** The node of a name in the zone, made with those above it where they are missing. */
  #ensure(name: Name): number {
    const lookup = this.#lookup;
    lookup.set(name);
    let label = 0;
    let node = this.view.find(lookup, label);
    while (node === 0) node = this.view.find(lookup, ++label);
    while (label > 0) {
      label--;
      node = this.#addNode(name.subarray(lookup.starts[label]), {
        parent: node,
        hash: lookup.hashes[label]!,
      });
    }
    return node;
  }

  #addNode(name: Name, { parent, hash }: { readonly parent: number; readonly hash: number }): number {
    const arena = this.#arena;
    const at = arena.allocate(nodeWords(name.length));
    const { words, octets } = arena;
    words[at + nodeWord.hash] = hash;
    words[at + nodeWord.parent] = parent;
    words[at + nodeWord.content] = 0;
    words[at + nodeWord.wildcard] = 0;
    words[at + nodeWord.children] = 0;
    words[at + nodeWord.next] = this.#head;
    words[at + nodeWord.previous] = 0;
    words[at + nodeWord.info] = name.length;
    octets.set(name, (at + nodeWord.name) * 4);
    if (this.#head !== 0) words[this.#head + nodeWord.previous] = at;
    this.#head = at;
    if (parent !== 0) {
      words[parent + nodeWord.children]!++;
      if (isWildcardName(name)) words[parent + nodeWord.wildcard] = at;
    } else {
      words[header.apex] = at;
    }
    words[header.names]!++;
    this.#table.insert(hash, at);
    return at;
  }

  /** Removes a node that has nothing, and those above that stood only for it. */
  #prune(from: number): void {
    const { words } = this.#arena;
    let at = from;
    while (at !== this.apex && words[at + nodeWord.children] === 0 && words[at + nodeWord.content] === 0) {
      const parent = words[at + nodeWord.parent]!;
      this.#table.remove(words[at + nodeWord.hash]!, at);
      words[header.names]!--;
      words[parent + nodeWord.children]!--;
      if (words[parent + nodeWord.wildcard] === at) words[parent + nodeWord.wildcard] = 0;
      if (this.#pins.size === 0) this.#dropNode(at);
      else {
        words[at + nodeWord.info]! |= nodeFlag.dead;
        this.#deadNodes.push(at);
      }
      at = parent;
    }
  }

  #dropNode(at: number): void {
    const { words } = this.#arena;
    const next = words[at + nodeWord.next]!;
    const previous = words[at + nodeWord.previous]!;
    if (next !== 0) words[next + nodeWord.previous] = previous;
    if (previous !== 0) words[previous + nodeWord.next] = next;
    else this.#head = next;
    this.#arena.free(at, nodeWords(words[at + nodeWord.info]! & 0xff));
  }

  #remember(node: number, former: number): void {
    for (const { before } of this.#pins) if (!before.has(node)) before.set(node, former);
  }

  #free(contentAt: number): void {
    const length = this.#arena.words[contentAt + content.size]!;
    if (this.#pins.size === 0) this.#arena.free(contentAt, length);
    else this.#pinned.push(contentAt, length);
  }

  /** The serial is 20 octets before the end of an SOA (RFC 1035 §3.3.13); at the apex, that set is the first. */
  #writeSerial(serial: number): void {
    const apexContent = this.contentOf(this.apex);
    if (apexContent === 0) return;
    for (const at of [apexContent + content.sets, this.#arena.words[header.negativeSoa]!]) {
      const { words, octets } = this.#arena;
      const end = (at + setWord.body) * 4 + (words[at + setWord.extent]! & 0xffff);
      for (let index = 0; index < 4; index++) octets[end - 20 + index] = serial >>> (24 - 8 * index);
    }
  }

  #readName(node: number): void {
    const at = (node + nodeWord.name) * 4;
    const { octets, words } = this.#arena;
    this.#lookup.read(octets, at, at + (words[node + nodeWord.info]! & 0xff));
  }
}

function nodeWords(nameOctets: number): number {
  return nodeWord.name + ((nameOctets + 3) >>> 2);
}

const denialMask = contentFlag.nsec | contentFlag.nsec3;
const breakMask = nodeFlag.cut | nodeFlag.dname | nodeFlag.hidden;

function breakFlags(info: number, isApex: boolean): number {
  if ((info & (contentFlag.nsec3 | contentFlag.visible)) === contentFlag.nsec3) return nodeFlag.hidden;
  const dname = (info & contentFlag.dname) !== 0 ? nodeFlag.dname : 0;
  return (info & contentFlag.cut) !== 0 && !isApex ? dname | nodeFlag.cut : dname;
}
