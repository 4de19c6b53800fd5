/** What a line of a watch tells of: an object, how far the watch has come, or something else. */
export type LineKind = "event" | "bookmark" | "other";

/** Tells by the beginning of a line, where servers say it. */
export function lineKind(line: Uint8Array): LineKind {
  const type = /"type"\s*:\s*"(\w+)"/.exec(new TextDecoder().decode(line.subarray(0, 64)))?.[1] ?? "";
  if (type === "BOOKMARK") return "bookmark";
  return ["ADDED", "MODIFIED", "DELETED"].includes(type) ? "event" : "other";
}

/** What a box does to bookmarks. */
export interface BookmarkChanges {
  readonly suppressBookmarks: boolean;
  readonly stripInitialEventsEnd: boolean;
}

const initialEventsEnd = "k8s.io/initial-events-end";

/** The bookmark as it goes on; `undefined`: it does not. */
export function changedBookmark(line: Uint8Array, changes: BookmarkChanges): Uint8Array | undefined {
  if (!changes.suppressBookmarks && !changes.stripInitialEventsEnd) return line;
  const event = JSON.parse(new TextDecoder().decode(line)) as Bookmark;
  const { annotations, ...metadata } = event.object.metadata;
  const endsInitial = annotations?.[initialEventsEnd] === "true";
  if (!endsInitial) return changes.suppressBookmarks ? undefined : line;
  if (!changes.stripInitialEventsEnd) return line;
  const plain = { ...event, object: { ...event.object, metadata } };
  return new TextEncoder().encode(`${JSON.stringify(plain)}\n`);
}

interface Bookmark {
  readonly object: {
    readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  };
}
