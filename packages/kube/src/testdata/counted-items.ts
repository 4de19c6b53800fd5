/** List items whose keys count how often they are read: tells a pass over a list from a search for each item. */
export function countedItems(
  field: string,
  keys: readonly string[],
): { readonly items: readonly { readonly [name: string]: string }[]; readonly reads: () => number } {
  let reads = 0;
  const items = keys.map((key) =>
    Object.defineProperty({}, field, {
      enumerable: true,
      get: () => {
        reads += 1;
        return key;
      },
    }),
  );
  return { items, reads: () => reads };
}
