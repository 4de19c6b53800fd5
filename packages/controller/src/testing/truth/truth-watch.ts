import { apiVersionOf, tooLargeResourceVersion, tooOldResourceVersion } from "@meridian/kube";
import type { KubeObject, ResourceType } from "@meridian/kube";
import type { Clock, HttpResponse } from "@meridian/runtime";
import { isSameCollection, withVersion } from "./truth-history.ts";
import type { TruthChange, TruthHistory } from "./truth-history.ts";
import type { TruthRequest } from "./truth-request.ts";

/** Which objects a request means. */
export type Selects = (object: KubeObject) => boolean;

/** An open watch. */
export interface OpenWatch {
  readonly type: ResourceType;
  /** Sends a bookmark of the server's version. */
  readonly bookmark: () => void;
  readonly end: () => void;
}

/** What a watch is made from. */
export interface WatchSource {
  readonly history: TruthHistory;
  readonly clock: Pick<Clock, "after">;
  readonly selects: Selects;
  readonly onOpen: (watch: OpenWatch) => void;
  readonly onEnd: (watch: OpenWatch) => void;
}

/** Answers a watch: the initial state if it is asked for, what has happened since, and what happens. @throws StatusError 410 */
export function watchResponse(request: TruthRequest, source: WatchSource): HttpResponse {
  const { history, selects } = source;
  const { query, type } = request;
  const streams = query.get("sendInitialEvents") === "true";
  const asked = query.get("resourceVersion") ?? "";
  // Without a version, or with 0, a watch begins with what is there.
  const initial = streams || asked === "" || asked === "0";
  const from = initial ? history.version : Number(asked);
  if (from > history.version) throw tooLargeResourceVersion(asked, String(history.version));
  if (from < history.compactedAt) throw tooOldResourceVersion(asked, String(history.compactedAt));

  const lines: string[] = [];
  if (initial) {
    for (const object of history.stateAt(type, from).values()) {
      if (selects(object)) lines.push(lineOf("ADDED", object));
    }
    if (streams) lines.push(bookmarkLine(type, from, { "k8s.io/initial-events-end": "true" }));
  }
  for (const change of history.changesAfter(type, from)) lines.push(...changeLines(change, selects));
  return {
    status: 200,
    headers: { "content-type": "application/json" },
    body: watchBody(lines, request, source),
  };
}

/** Listens from now on: what happens before the body is first read is in it. */
function watchBody(
  lines: string[],
  { type, query, signal }: TruthRequest,
  { history, clock, selects, onOpen, onEnd }: WatchSource,
): AsyncIterable<Uint8Array> {
  let wake = (): void => {};
  let ended = false;
  const send = (...more: readonly string[]): void => {
    lines.push(...more);
    wake();
  };
  const end = (): void => {
    if (ended) return;
    ended = true;
    stopObserving();
    cancelTimeout();
    signal.removeEventListener("abort", end);
    onEnd(watch);
    wake();
  };
  const watch: OpenWatch = { type, bookmark: () => send(bookmarkLine(type, history.version)), end };
  const stopObserving = history.observe((change) => {
    if (isSameCollection(change.type, type)) send(...changeLines(change, selects));
  });
  const seconds = Number(query.get("timeoutSeconds") ?? 0);
  const cancelTimeout = seconds > 0 ? clock.after(seconds * 1000, end) : () => {};
  onOpen(watch);
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();

  return (async function* () {
    try {
      for (;;) {
        const line = lines.shift();
        if (line !== undefined) yield new TextEncoder().encode(line);
        else if (ended) return;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      end();
    }
  })();
}

/** What a change is to those who see a part of the collection: who leaves the part is deleted for them. */
function changeLines({ object, before, version }: TruthChange, selects: Selects): readonly string[] {
  const was = before !== undefined && selects(before);
  const is = object !== undefined && selects(object);
  if (is) return [lineOf(was ? "MODIFIED" : "ADDED", object)];
  // A deletion carries the last state, with the version of the deletion.
  return was ? [lineOf("DELETED", withVersion(before, version))] : [];
}

function lineOf(type: string, object: unknown): string {
  return `${JSON.stringify({ type, object })}\n`;
}

function bookmarkLine(
  type: ResourceType,
  version: number,
  annotations?: Readonly<Record<string, string>>,
): string {
  const metadata = {
    resourceVersion: String(version),
    ...(annotations === undefined ? {} : { annotations }),
  };
  return lineOf("BOOKMARK", { apiVersion: apiVersionOf(type), kind: type.kind, metadata });
}
