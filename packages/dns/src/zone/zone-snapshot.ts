import { typeSoa } from "../message/type-numbers.ts";
import { readContent } from "./content-reader.ts";
import type { WireRecord, ZoneSnapshot } from "./wire-record.ts";
import { wireRecordsOf } from "./wire-set.ts";
import type { ZoneTree } from "./zone-tree.ts";

/**
 * The records of a tree as they are now. Nothing is copied: until it is disposed of, no memory of the tree is used again,
 * and contents that are replaced are remembered.
 */
export function snapshotOf(
  tree: ZoneTree,
  { serial, soa }: { readonly serial: number; readonly soa: WireRecord },
): ZoneSnapshot {
  const pin = tree.pin();
  const readNode = (node: number, contentAt: number): WireRecord[] => {
    const name = tree.view.nameOf(node);
    return readContent(tree.view, contentAt, tree.origin).flatMap((set) =>
      // Serials change in place, so the SOA there may be a later one.
      set.type === typeSoa ? [] : wireRecordsOf(name, set),
    );
  };
  return {
    serial,
    *records() {
      yield soa;
      const apexContent = pin.before.get(tree.apex) ?? tree.contentOf(tree.apex);
      yield* readNode(tree.apex, apexContent);
      for (const { node, content } of tree.pinnedContents(pin))
        if (node !== tree.apex) yield* readNode(node, content);
    },
    [Symbol.dispose]: () => tree.unpin(pin),
  };
}
