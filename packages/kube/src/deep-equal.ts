/**
 * Semantic equality of JSON values: objects by their fields in any order, arrays by position. A field that is
 * `undefined` counts as absent. Works on typed objects too, as long as they are plain data.
 */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  const aIsArray = Array.isArray(a);
  if (aIsArray !== Array.isArray(b)) return false;
  return aIsArray
    ? equalArrays(a, b as readonly unknown[])
    : equalObjects(a as Record<string, unknown>, b as Record<string, unknown>);
}

function equalArrays(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, index) => deepEqual(item, b[index]));
}

function equalObjects(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  let present = 0;
  for (const name of Object.keys(a)) {
    if (a[name] === undefined) continue;
    present++;
    if (!Object.hasOwn(b, name) || !deepEqual(a[name], b[name])) return false;
  }
  for (const name of Object.keys(b)) if (b[name] !== undefined) present--;
  return present === 0;
}

/** Freezes plain data through and through, and returns it. Parts that are frozen already are not walked again. */
export function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) freeze(part);
  return value;
}
