import type { Revision } from "../storage/storage.ts";

/** The text of a revision on the wire. */
export function resourceVersionOf(revision: Revision): string {
  return String(revision);
}

/** Reads a `resourceVersion` from outside; `undefined` if it can be none. `"0"` parses: it means "any". */
export function parseResourceVersion(text: string): Revision | undefined {
  if (!/^(0|[1-9]\d{0,15})$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isSafeInteger(value) ? (value as Revision) : undefined;
}
