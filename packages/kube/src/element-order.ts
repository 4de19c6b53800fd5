import { deepEqual } from "./deep-equal.ts";
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
  const keyOf = (item: Json): Json | undefined =>
    mergeKey !== undefined && isJsonObject(item) ? ownField(item, mergeKey) : item;
  const place = (list: readonly Json[], item: Json): number => {
    const key = keyOf(item);
    return list.findIndex((each) => deepEqual(keyOf(each), key));
  };

  const known = merged
    .filter((item) => place(order, item) >= 0)
    .toSorted((a, b) => place(order, a) - place(order, b));
  const serverOnly = merged
    .filter((item) => place(order, item) < 0)
    .toSorted((a, b) => place(old, a) - place(old, b));

  const result: Json[] = [];
  let at = 0;
  for (const item of known) {
    const oldPlace = place(old, item);
    for (; at < serverOnly.length; at++) {
      const next = serverOnly[at] ?? null;
      // A new item has no old place: it goes in at once, and what only the server knows follows.
      if (oldPlace < 0 || place(old, next) > oldPlace) break;
      result.push(next);
    }
    result.push(item);
  }
  return [...result, ...serverOnly.slice(at)];
}
