import { DnsError } from "../dns-error.ts";
import type { MmdbFile } from "./mmdb-file.ts";
import { stepsBetweenPauses, type TrieBuilder, type TrieReference } from "./trie-builder.ts";

const depthMax = 128;
const unvisited = 0x7fff_ffff;
const entered = 0x7fff_fffe;

/**
 * Builds a database's search tree anew with few and shallow leaves: records that are the same as far as anybody asks are
 * one leaf. Parts that the database shares (it has IPv4 behind several IPv6 prefixes) stay shared.
 *
 * @throws DnsError `BadGeoData` where the tree or a record is damaged
 */
export async function importMmdb(
  builder: TrieBuilder,
  file: MmdbFile,
  { leafOf, pause }: { readonly leafOf: (recordAt: number) => number; readonly pause: () => Promise<void> },
): Promise<{ readonly v4: TrieReference; readonly v6: TrieReference }> {
  const made = new Int32Array(file.nodeCount).fill(unvisited);
  const leaves = new Map<number, TrieReference>();
  const resolve = (child: number): TrieReference => {
    if (child < file.nodeCount) return made[child]!;
    if (child === file.nodeCount) return ~0;
    let leaf = leaves.get(child);
    if (leaf === undefined) leaves.set(child, (leaf = ~leafOf(file.recordAt(child))));
    return leaf;
  };

  const path = [0];
  made[0] = entered;
  for (let steps = 1; path.length > 0; steps++) {
    const node = path[path.length - 1]!;
    const zero = file.child(node, 0);
    const one = file.child(node, 1);
    const left = resolve(zero);
    const right = left === unvisited || left === entered ? unvisited : resolve(one);
    if (left === entered || right === entered || path.length > depthMax)
      throw new DnsError("BadGeoData", "the search tree has a loop; fetch the database again");
    if (left === unvisited || right === unvisited) {
      const next = left === unvisited ? zero : one;
      made[next] = entered;
      path.push(next);
    } else {
      made[node] = builder.node(left, right);
      path.pop();
    }
    if (steps % stepsBetweenPauses === 0) await pause();
  }
  if (file.ipVersion === 4) return { v4: made[0], v6: ~0 };
  let v4 = made[0];
  for (let bit = 0; bit < 96; bit++) v4 = builder.child(v4, 0);
  return { v4, v6: made[0] };
}
