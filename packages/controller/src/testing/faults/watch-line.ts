/** What a box does to the lines of a watch. */
export interface LineChanges {
  readonly suppressBookmarks: boolean;
  readonly stripInitialEventsEnd: boolean;
}

const initialEventsEnd = "k8s.io/initial-events-end";

/** The line as it goes on, and whether it is an event about an object; `undefined`: it does not go on. */
export function changedLine(
  octets: Uint8Array,
  changes: LineChanges,
): { readonly octets: Uint8Array; readonly isEvent: boolean } | undefined {
  const text = new TextDecoder().decode(octets.subarray(0, 64));
  if (!/"type"\s*:\s*"BOOKMARK"/.test(text)) {
    return { octets, isEvent: /"type"\s*:\s*"(?:ADDED|MODIFIED|DELETED)"/.test(text) };
  }
  if (!changes.suppressBookmarks && !changes.stripInitialEventsEnd) return { octets, isEvent: false };
  const event = JSON.parse(new TextDecoder().decode(octets)) as Bookmark;
  const { annotations, ...metadata } = event.object.metadata;
  const endsInitial = annotations?.[initialEventsEnd] === "true";
  if (!endsInitial) return changes.suppressBookmarks ? undefined : { octets, isEvent: false };
  if (!changes.stripInitialEventsEnd) return { octets, isEvent: false };
  const plain = { ...event, object: { ...event.object, metadata } };
  return { octets: new TextEncoder().encode(`${JSON.stringify(plain)}\n`), isEvent: false };
}

interface Bookmark {
  readonly object: {
    readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  };
}
