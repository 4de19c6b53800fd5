import { deepEqual } from "../../deep-equal.ts";

/** Equality of converted values: messages by their fields, maps by their entries, times by their moment. */
export function equalCelValues(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (a.constructor !== b.constructor) return false;
  if (a instanceof Map && b instanceof Map) {
    return (
      a.size === b.size && [...a].every(([key, value]) => b.has(key) && equalCelValues(value, b.get(key)))
    );
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, at) => equalCelValues(item, b[at]));
  }
  if (a instanceof Date || a instanceof Uint8Array || typeof a.valueOf() !== "object") {
    return deepEqual(plain(a), plain(b));
  }
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) =>
    equalCelValues((a as Record<string, unknown>)[name], (b as Record<string, unknown>)[name]),
  );
}

const plain = (value: object): unknown => (value instanceof Uint8Array ? Array.from(value) : value.valueOf());
