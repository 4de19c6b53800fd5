import { canonicalText } from "./canonical-text.ts";
import { isJsonObject, ownField } from "./json.ts";
import type { Json } from "./json.ts";

/** How a merged list is to be ordered. */
export interface ElementOrder {
  /** The order that the patch asks for (`$setElementOrder`): items, or objects that hold just the merge key. */
  readonly order: readonly Json[];
  /** The list as it was before the merge. */
  readonly old: readonly Json[];
  readonly mergeKey: string | undefined;
}

/**
 * Orders a merged list. Items that the patch knows follow its order. Items that only the server knows stay in front of the known items
 * that they were in front of.
 *
 * For example: the server had `[a, x, b, y]`, the patch knows `[b, a]`. Of the known `b` comes first; `x` stood before `b`, so the
 * result is `[x, b, a, y]`.
 */
export function orderElements(merged: readonly Json[], { order, old, mergeKey }: ElementOrder): Json[] {
  const wantedPlaces = firstPlaces(order, mergeKey);
  const oldPlaces = firstPlaces(old, mergeKey);
  const placed = merged.map((item) => {
    const key = elementKey(item, mergeKey);
    return { item, wanted: wantedPlaces.get(key) ?? -1, old: oldPlaces.get(key) ?? -1 };
  });
  const known = placed.filter(({ wanted }) => wanted >= 0).toSorted((a, b) => a.wanted - b.wanted);
  const serverOnly = placed.filter(({ wanted }) => wanted < 0).toSorted((a, b) => a.old - b.old);

  const result: Json[] = [];
  let at = 0;
  for (const next of known) {
    for (; at < serverOnly.length; at++) {
      const other = serverOnly[at]!;
      // A new item has no old place: it goes in at once, and what only the server knows follows.
      if (next.old < 0 || other.old > next.old) break;
      result.push(other.item);
    }
    result.push(next.item);
  }
  return [...result, ...serverOnly.slice(at).map(({ item }) => item)];
}

/** By what an element of a merged list is told from the others, as a text: its merge key, or itself. */
export function elementKey(item: Json, mergeKey: string | undefined): string {
  const key = mergeKey !== undefined && isJsonObject(item) ? ownField(item, mergeKey) : item;
  return key === undefined ? "" : canonicalText(key);
}

function firstPlaces(items: readonly Json[], mergeKey: string | undefined): Map<string, number> {
  const places = new Map<string, number>();
  items.forEach((item, at) => {
    const key = elementKey(item, mergeKey);
    if (!places.has(key)) places.set(key, at);
  });
  return places;
}
