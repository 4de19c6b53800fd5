import { compareKeys } from "./key-order.ts";
import type { StoredRecord } from "./storage.ts";

/** Most entries of a node. Small enough that copying a path is cheap, large enough that a million keys are four deep. */
const nodeEntriesMax = 48;

interface Leaf {
  readonly kind: "leaf";
  readonly records: readonly StoredRecord[];
}

interface Branch {
  readonly kind: "branch";
  readonly children: readonly Node[];
  /** The smallest key under each child. */
  readonly firstKeys: readonly string[];
  /** Records under this node. */
  readonly size: number;
}

type Node = Leaf | Branch;

const emptyLeaf: Leaf = { kind: "leaf", records: [] };

/**
 * All records of one revision, ordered by key: an immutable B+ tree with counts.
 *
 * A change copies the nodes from the root to one leaf and shares the rest, so that every revision somebody still reads
 * is one root pointer, and a reader never waits for a writer:
 *
 * ```text
 * old root ─┬─ [a b c]            new root = old.with(e') ─┬─ [a b c]   the same leaf
 *           └─ [d e f]                                     └─ [d e' f]  a new leaf
 * ```
 *
 * Leaves hold no key twice; a node is split when it is full and vanishes when it is empty. Nodes are not merged: with
 * Kubernetes' keys the gain is nil, and depth is bounded by the splits.
 */
export class RecordTree {
  static readonly empty: RecordTree = new RecordTree(emptyLeaf);
  readonly #root: Node;

  private constructor(root: Node) {
    this.#root = root;
  }

  /** Builds a tree from records in strictly rising key order. */
  static fromSorted(records: readonly StoredRecord[]): RecordTree {
    const fill = Math.ceil(nodeEntriesMax * 0.75);
    let level: Node[] = [];
    for (let i = 0; i < records.length; i += fill) {
      level.push({ kind: "leaf", records: records.slice(i, i + fill) });
    }
    while (level.length > 1) {
      const above: Node[] = [];
      for (let i = 0; i < level.length; i += fill) above.push(branch(level.slice(i, i + fill)));
      level = above;
    }
    return new RecordTree(level[0] ?? emptyLeaf);
  }

  get size(): number {
    return sizeOf(this.#root);
  }

  get(key: string): StoredRecord | undefined {
    let node = this.#root;
    while (node.kind === "branch") node = node.children[childFor(node, key)]!;
    const at = lowerBound(node.records, key);
    const found = node.records[at];
    return found !== undefined && found.key === key ? found : undefined;
  }

  /** The tree with `record` in the place of what stood at its key. */
  with(record: StoredRecord): RecordTree {
    const parts = put(this.#root, record);
    return new RecordTree(parts.length === 1 ? parts[0]! : branch(parts));
  }

  /** The tree without `key`; the same tree if it has no such key. */
  without(key: string): RecordTree {
    const root = remove(this.#root, key);
    if (root === this.#root) return this;
    return new RecordTree(collapsed(root ?? emptyLeaf));
  }

  /** How many keys `isBelow` holds for. It must hold for a head of the key order and for nothing behind it. */
  countBelow(isBelow: (key: string) => boolean): number {
    let node = this.#root;
    let count = 0;
    while (node.kind === "branch") {
      const at = Math.max(partition(node.firstKeys, isBelow) - 1, 0);
      for (let i = 0; i < at; i++) count += sizeOf(node.children[i]!);
      node = node.children[at]!;
    }
    let low = 0;
    let high = node.records.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isBelow(node.records[middle]!.key)) low = middle + 1;
      else high = middle;
    }
    return count + low;
  }

  /** The records from position `start` up to, not including, `end`, in key order. */
  slice(start: number, end: number): StoredRecord[] {
    const out: StoredRecord[] = [];
    collect(this.#root, { start, end }, out);
    return out;
  }
}

function sizeOf(node: Node): number {
  return node.kind === "leaf" ? node.records.length : node.size;
}

function firstKey(node: Node): string {
  return node.kind === "leaf" ? node.records[0]!.key : node.firstKeys[0]!;
}

function branch(children: readonly Node[]): Branch {
  let size = 0;
  for (const child of children) size += sizeOf(child);
  return { kind: "branch", children, firstKeys: children.map(firstKey), size };
}

/** The branch with another node in the place of one child: what most changes do, so it recounts nothing. */
function withChild(node: Branch, at: number, child: Node): Branch {
  const children = node.children.slice();
  children[at] = child;
  const first = firstKey(child);
  let { firstKeys } = node;
  if (firstKeys[at] !== first) firstKeys = firstKeys.with(at, first);
  return {
    kind: "branch",
    children,
    firstKeys,
    size: node.size - sizeOf(node.children[at]!) + sizeOf(child),
  };
}

/** How many of the sorted `keys` the predicate holds for. */
function partition(keys: readonly string[], isBelow: (key: string) => boolean): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBelow(keys[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The child that has the key or would get it. */
function childFor(node: Branch, key: string): number {
  let low = 1;
  let high = node.firstKeys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareKeys(node.firstKeys[middle]!, key) <= 0) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function lowerBound(records: readonly StoredRecord[], key: string): number {
  let low = 0;
  let high = records.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareKeys(records[middle]!.key, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** One node, or two where it had to be split. */
function put(node: Node, record: StoredRecord): Node[] {
  if (node.kind === "leaf") {
    const at = lowerBound(node.records, record.key);
    const records = node.records.slice();
    if (records[at]?.key === record.key) records[at] = record;
    else records.splice(at, 0, record);
    if (records.length <= nodeEntriesMax) return [{ kind: "leaf", records }];
    const cut = cutAt(records.length, at);
    return [
      { kind: "leaf", records: records.slice(0, cut) },
      { kind: "leaf", records: records.slice(cut) },
    ];
  }
  const at = childFor(node, record.key);
  const parts = put(node.children[at]!, record);
  if (parts.length === 1) return [withChild(node, at, parts[0]!)];
  const children = node.children.slice();
  children.splice(at, 1, ...parts);
  if (children.length <= nodeEntriesMax) return [branch(children)];
  const cut = cutAt(children.length, at);
  return [branch(children.slice(0, cut)), branch(children.slice(cut))];
}

/** Splits in the middle, but keeps nodes full when keys come in rising order. */
function cutAt(length: number, insertedAt: number): number {
  return insertedAt === length - 1 ? length - 1 : length >>> 1;
}

/** The node without the key: the same node where it is absent, `undefined` where nothing is left. */
function remove(node: Node, key: string): Node | undefined {
  if (node.kind === "leaf") {
    const at = lowerBound(node.records, key);
    if (node.records[at]?.key !== key) return node;
    if (node.records.length === 1) return undefined;
    return { kind: "leaf", records: node.records.toSpliced(at, 1) };
  }
  const at = childFor(node, key);
  const child = node.children[at]!;
  const left = remove(child, key);
  if (left === child) return node;
  if (left !== undefined) return withChild(node, at, left);
  return node.children.length === 1 ? undefined : branch(node.children.toSpliced(at, 1));
}

/** Takes away roots with a single child, so that the depth shrinks with the content. */
function collapsed(root: Node): Node {
  let node = root;
  while (node.kind === "branch" && node.children.length === 1) node = node.children[0]!;
  return node;
}

function collect(node: Node, range: { start: number; end: number }, out: StoredRecord[]): void {
  if (node.kind === "leaf") {
    for (let i = Math.max(range.start, 0); i < Math.min(range.end, node.records.length); i++) {
      out.push(node.records[i]!);
    }
    return;
  }
  let offset = 0;
  for (const child of node.children) {
    const size = sizeOf(child);
    if (offset >= range.end) return;
    if (offset + size > range.start)
      collect(child, { start: range.start - offset, end: range.end - offset }, out);
    offset += size;
  }
}
