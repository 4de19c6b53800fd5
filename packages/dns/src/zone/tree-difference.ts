import type { Name } from "../name/name.ts";
import type { WorkSlices } from "./work-slices.ts";
import { content } from "./zone-layout.ts";
import type { OwnerChange, ZoneTree } from "./zone-tree.ts";

/**
 * What makes the owners of one tree those of another of the same origin, the apex excepted; found in slices. `undefined`
 * where more than `ownersMax` differ. Means nothing where `from` changes meanwhile; `to` must not.
 */
export async function treeDifference(
  { from, to }: { readonly from: ZoneTree; readonly to: ZoneTree },
  { slices, ownersMax }: { readonly slices: WorkSlices; readonly ownersMax: number },
): Promise<readonly OwnerChange[] | undefined> {
  const changes: OwnerChange[] = [];
  for (const node of to.nodes()) {
    if (changes.length > ownersMax) return undefined;
    const pause = slices.step();
    if (pause !== undefined) await pause;
    const at = to.contentOf(node);
    if (at === 0 || node === to.apex) continue;
    const { words } = to.view;
    const change = { name: to.view.nameOf(node), words: words.subarray(at, at + words[at + content.size]!) };
    if (!from.has(change)) changes.push({ name: change.name, words: change.words.slice() });
  }
  const pin = from.pin();
  try {
    for (const { node } of from.pinnedContents(pin)) {
      if (changes.length > ownersMax) return undefined;
      const pause = slices.step();
      if (pause !== undefined) await pause;
      const name = from.view.nameOf(node);
      if (node !== from.apex && !isOwner(to, name)) changes.push({ name, words: undefined });
    }
  } finally {
    from.unpin(pin);
  }
  return changes;
}

function isOwner(tree: ZoneTree, name: Name): boolean {
  const node = tree.find(name);
  return node !== 0 && tree.contentOf(node) !== 0;
}
