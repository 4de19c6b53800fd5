/** What takes a few milliseconds. */
export const stepsBetweenPauses: number = 20_000;

/** A node by its number, or `~leaf`. */
export type TrieReference = number;

/**
 * Binary tries over addresses. Nodes are never changed, so tries share parts; two equal leaves side by side become one, so
 * that every leaf is as shallow as its meaning allows.
 */
export class TrieBuilder {
  #nodes: Int32Array = new Int32Array(1024);
  #count = 0;

  /** A node, or the leaf where both sides are the same one. */
  node(zero: TrieReference, one: TrieReference): TrieReference {
    if (zero === one && zero < 0) return zero;
    if (2 * this.#count === this.#nodes.length) {
      const larger = new Int32Array(2 * this.#nodes.length);
      larger.set(this.#nodes);
      this.#nodes = larger;
    }
    this.#nodes[2 * this.#count] = zero;
    this.#nodes[2 * this.#count + 1] = one;
    return this.#count++;
  }

  child(node: TrieReference, bit: number): TrieReference {
    return node < 0 ? node : this.#nodes[2 * node + bit]!;
  }

  /** The trie with another part below a prefix; what is left of the prefix stays. */
  with(
    root: TrieReference,
    network: { octets: Uint8Array; prefix: number },
    part: TrieReference,
  ): TrieReference {
    const siblings: TrieReference[] = [];
    let at = root;
    for (let depth = 0; depth < network.prefix; depth++) {
      const bit = bitAt(network.octets, depth);
      siblings.push(this.child(at, 1 - bit));
      at = this.child(at, bit);
    }
    let made = part;
    for (let depth = network.prefix - 1; depth >= 0; depth--) {
      const sibling = siblings[depth]!;
      made = bitAt(network.octets, depth) === 0 ? this.node(made, sibling) : this.node(sibling, made);
    }
    return made;
  }

  /** One trie of two: `join` makes its leaves. Where the upper one has leaf 0, the lower one stays as it is. */
  overlay(
    lower: TrieReference,
    upper: TrieReference,
    join: (lower: number, upper: number) => number,
  ): TrieReference {
    if (upper === ~0) return lower;
    if (lower < 0 && upper < 0) return ~join(~lower, ~upper);
    return this.node(
      this.overlay(this.child(lower, 0), this.child(upper, 0), join),
      this.overlay(this.child(lower, 1), this.child(upper, 1), join),
    );
  }

  /** The same tries with other leaves, and nothing else in them, as Int32 pairs. `pause` is awaited every few milliseconds. */
  async freeze(
    roots: readonly TrieReference[],
    { leafOf, pause }: { readonly leafOf: (leaf: number) => number; readonly pause: () => Promise<void> },
  ): Promise<{ readonly trie: SharedArrayBuffer; readonly roots: readonly TrieReference[] }> {
    const mapped = new TrieBuilder();
    const made = new Int32Array(this.#count).fill(absent);
    const mappedOf = (reference: TrieReference): TrieReference =>
      reference < 0 ? ~leafOf(~reference) : made[reference]!;
    let steps = 0;
    for (const root of roots) {
      const path = root < 0 ? [] : [root];
      while (path.length > 0) {
        const node = path[path.length - 1]!;
        const zero = this.#nodes[2 * node]!;
        const one = this.#nodes[2 * node + 1]!;
        const left = mappedOf(zero);
        const right = mappedOf(one);
        if (left === absent) path.push(zero);
        else if (right === absent) path.push(one);
        else {
          made[node] = mapped.node(left, right);
          path.pop();
        }
        if (++steps % stepsBetweenPauses === 0) await pause();
      }
    }
    const trie = new SharedArrayBuffer(8 * mapped.#count);
    new Int32Array(trie).set(mapped.#nodes.subarray(0, 2 * mapped.#count));
    return { trie, roots: roots.map(mappedOf) };
  }
}

/** No reference. */
const absent = 0x7fff_ffff;

function bitAt(octets: Uint8Array, index: number): 0 | 1 {
  return ((octets[index >>> 3]! >>> (7 - (index & 7))) & 1) as 0 | 1;
}
