import type { Name } from "../name/name.ts";
import { readContent } from "./content-reader.ts";
import type { RecordSet } from "./record-set.ts";
import { wireSetToText, type WireSet } from "./wire-set.ts";
import type { ZoneTree } from "./zone-tree.ts";

/** Every record set of a tree: the apex's first, then those of the owners in canonical order (RFC 4034 §6.1). */
export function* allRecordSets(tree: ZoneTree): IterableIterator<RecordSet> {
  const keyed: { readonly node: number; readonly key: string }[] = [];
  for (const node of tree.nodes())
    if (node !== tree.apex && tree.contentOf(node) !== 0)
      keyed.push({ node, key: canonicalKey(tree.view.nameOf(node)) });
  keyed.sort((left, right) => (left.key < right.key ? -1 : left.key > right.key ? 1 : 0));
  yield* recordSetsAt(tree, tree.apex);
  for (const { node } of keyed) yield* recordSetsAt(tree, node);
}

/** The record sets of a folded name, in canonical form. */
export function recordSetsOf(tree: ZoneTree, name: Name): readonly RecordSet[] {
  const node = tree.find(name);
  return node === 0 ? [] : recordSetsAt(tree, node);
}

/** As `recordSetsOf`, in wire form. */
export function wireSetsOf(tree: ZoneTree, name: Name): readonly WireSet[] {
  const node = tree.find(name);
  return node === 0 ? [] : wireSetsAt(tree, node);
}

function recordSetsAt(tree: ZoneTree, node: number): readonly RecordSet[] {
  const name = tree.view.nameOf(node);
  return wireSetsAt(tree, node).map((set) => wireSetToText(name, set));
}

function wireSetsAt(tree: ZoneTree, node: number): readonly WireSet[] {
  const contentAt = tree.contentOf(node);
  return contentAt === 0 ? [] : readContent(tree.view, contentAt, tree.origin);
}

/** Labels from the right, each followed by a separator below every octet, so that text order is canonical order. */
function canonicalKey(name: Name): string {
  const labels: string[] = [];
  for (let at = 0; name[at] !== 0; at += name[at]! + 1) {
    labels.unshift(
      [...name.subarray(at + 1, at + 1 + name[at]!)].map((octet) => String.fromCharCode(octet + 1)).join(""),
    );
  }
  return labels.join("\0");
}
