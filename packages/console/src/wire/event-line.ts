/** What a line of a watch's stream tells: an event about an object, or something else. */
export interface EventLine {
  readonly change: "created" | "changed" | "deleted";
  readonly name: string;
  readonly resourceVersion: string;
}

/** Reads one line of a watch's stream; `undefined` for bookmarks, errors and what is no event at all. Pure. */
export function parseEventLine(line: Uint8Array): EventLine | undefined {
  let event: unknown;
  try {
    event = JSON.parse(decoder.decode(line));
  } catch {
    return undefined;
  }
  if (typeof event !== "object" || event === null) return undefined;
  const { type, object } = event as { readonly type?: unknown; readonly object?: unknown };
  const change = typeof type === "string" ? changes.get(type) : undefined;
  const { metadata } = (object ?? {}) as { readonly metadata?: Readonly<Record<string, unknown>> };
  const { name, resourceVersion } = metadata ?? {};
  if (change === undefined || typeof name !== "string" || typeof resourceVersion !== "string")
    return undefined;
  return { change, name, resourceVersion };
}

const decoder = new TextDecoder();
const changes: ReadonlyMap<string, EventLine["change"]> = new Map([
  ["ADDED", "created"],
  ["MODIFIED", "changed"],
  ["DELETED", "deleted"],
]);
