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

/** Cuts octets that arrive in any portions into lines, each with its line feed. */
export class LineCutter {
  #rest: Uint8Array = new Uint8Array(0);

  /** The lines that are complete now. */
  push(octets: Uint8Array): readonly Uint8Array[] {
    const lines: Uint8Array[] = [];
    let start = 0;
    for (;;) {
      const end = octets.indexOf(lineFeed, start);
      if (end < 0) break;
      lines.push(joined(this.#rest, octets.subarray(start, end + 1)));
      this.#rest = nothing;
      start = end + 1;
    }
    this.#rest = joined(this.#rest, octets.subarray(start));
    return lines;
  }

  /** What came after the last line feed. */
  get rest(): Uint8Array {
    return this.#rest;
  }
}

const lineFeed = 10;
const nothing = new Uint8Array(0);

/** A copy, since whoever reads a stream may reuse its octets. */
function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}
