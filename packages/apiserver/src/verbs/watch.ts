import { StatusError, tooOldResourceVersion } from "@meridian/kube";
import type { HttpResponse } from "@meridian/runtime";
import type { ApiRequest } from "../http/api-request.ts";
import { collectionPrefix, objectKeyOf } from "../objects/object-store.ts";
import { resourceVersionOf } from "../objects/resource-version.ts";
import { parseSelection, type Selection } from "../objects/selection.ts";
import type { ServedResource } from "../resource/definition.ts";
import { type Revision, StorageError, type WatchBatch } from "../storage/storage.ts";
import type { ApiContext } from "./api-context.ts";
import { Doorbell } from "./doorbell.ts";
import { parseWatchQuery, type WatchQuery } from "./list-options.ts";
import { reach } from "./list.ts";
import { WatchEncoder } from "./watch-encoder.ts";

const encoder = new TextEncoder();

/**
 * `GET` of a collection with `watch=1`: a stream of events.
 *
 * Once the parameters are sound the answer is 200 and its headers leave at once; what goes wrong after that arrives as
 * an ERROR event, as from kube-apiserver.
 */
export function serveWatch(context: ApiContext, request: ApiRequest): HttpResponse {
  const query = parseWatchQuery(request.query);
  const selection = parseSelection(request.resource, request.query);
  const watchEncoder = new WatchEncoder(request, { selection, now: () => context.runtime.clock.now() });
  const warning = request.warnings.header();
  return {
    status: 200,
    headers: {
      "content-type": "application/json",
      "cache-control": "no-cache, private",
      ...(warning !== undefined && { warning }),
    },
    body: streamWatch(context, request, { query, selection, encoder: watchEncoder }),
  };
}

interface Watch {
  readonly query: WatchQuery;
  readonly selection: Selection;
  readonly encoder: WatchEncoder;
}

/** Yields lines until the client goes, the time is up, the kind changes, the server closes or the reader is too slow. */
async function* streamWatch(
  context: ApiContext,
  request: ApiRequest,
  watch: Watch,
): AsyncGenerator<Uint8Array> {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  const stopWatchingKind = context.registry.onChange(() => {
    const { definition } = request.resource;
    if (context.registry.get(definition) !== definition) end();
  });
  const stopWaitingForClose = context.streams.onClose(end);
  const { definition } = request.resource;
  const closed = context.requests.opened({
    user: request.user.username,
    verb: "watch",
    group: definition.group,
    resource: definition.plural,
  });
  const client = request.http.signal;
  client.addEventListener("abort", end, { once: true });
  if (client.aborted || context.closing.aborted) end();
  try {
    yield* streamEvents(context, request, { ...watch, signal: ending.signal });
  } catch (error) {
    const status = error instanceof StatusError ? error.status : undefined;
    if (status !== undefined) yield encoder.encode(watch.encoder.error(status));
    else if (!ending.signal.aborted) throw error;
  } finally {
    end();
    stopWatchingKind();
    stopWaitingForClose();
    client.removeEventListener("abort", end);
    closed();
  }
}

async function* streamEvents(
  context: ApiContext,
  request: ApiRequest,
  watch: Watch & { readonly signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  const { resource } = request;
  const { start } = watch.query;
  const prefix = watchPrefix(resource, { namespace: request.path.namespace, selection: watch.selection });
  let after: Revision;
  switch (start.kind) {
    case "after":
      after = start.revision;
      break;
    case "now":
      after = context.objects.storage.revision();
      break;
    case "state": {
      if (start.notOlderThan !== undefined) await reach(context, start.notOlderThan);
      const state = await context.objects.list(resource, { prefix });
      after = state.revision;
      yield* chunksOf(state.objects, ({ object }) => watch.encoder.initial(object));
      if (start.marked && watch.query.bookmarks) {
        yield encoder.encode(watch.encoder.bookmark(after, { initialEnd: true }));
      }
    }
  }
  yield* followChanges(context, resource, { ...watch, prefix, after });
}

interface Following extends Watch {
  readonly prefix: string;
  readonly after: Revision;
  readonly signal: AbortSignal;
}

async function* followChanges(
  context: ApiContext,
  resource: ServedResource,
  watch: Following,
): AsyncGenerator<Uint8Array> {
  const { clock } = context.runtime;
  const source = openSource(context, watch)[Symbol.asyncIterator]();
  const bell = new Doorbell();
  const ring = (): void => bell.ring();
  watch.signal.addEventListener("abort", ring);

  const endsAt = clock.monotonicMs() + 1_000 * (watch.query.timeoutSeconds ?? defaultTimeoutSeconds(context));
  let bookmarkAt = nextBookmark(clock.monotonicMs(), endsAt);
  let cancelAlarm = clock.after(Math.min(bookmarkAt, endsAt) - clock.monotonicMs(), ring);
  let progress = watch.after;
  let told = watch.after;
  let arrived: IteratorResult<WatchBatch> | undefined;
  let failed: unknown;
  let reading = false;
  try {
    while (!watch.signal.aborted) {
      if (failed !== undefined) throw translated(failed, watch);
      if (arrived !== undefined) {
        if (arrived.done === true) return;
        const batch = arrived.value;
        arrived = undefined;
        yield* chunksOf(batch.events, (event) =>
          watch.encoder.change(context.objects.change(resource, event)),
        );
        if (batch.progress > progress) progress = batch.progress;
        if (batch.events.length > 0) told = progress;
        continue;
      }

      const now = clock.monotonicMs();
      if (now >= bookmarkAt || now >= endsAt) {
        if (watch.query.bookmarks && progress > told) {
          told = progress;
          yield encoder.encode(watch.encoder.bookmark(progress));
        }
        if (now >= endsAt) return;
        bookmarkAt = nextBookmark(clock.monotonicMs(), endsAt);
        cancelAlarm();
        cancelAlarm = clock.after(Math.min(bookmarkAt, endsAt) - clock.monotonicMs(), ring);
        continue;
      }

      if (!reading) {
        reading = true;
        source.next().then(
          (result) => {
            reading = false;
            arrived = result;
            ring();
          },
          (error: unknown) => {
            failed = error ?? new Error("the watch of the store failed");
            ring();
          },
        );
      }
      await bell.wait();
    }
  } finally {
    cancelAlarm();
    watch.signal.removeEventListener("abort", ring);
    await source.return?.();
  }
}

/** A watch that the history no longer reaches ends as Expired: the client lists again. */
function openSource(context: ApiContext, watch: Following): AsyncIterable<WatchBatch> {
  try {
    return context.objects.watch({ prefix: watch.prefix, after: watch.after, signal: watch.signal });
  } catch (error) {
    throw translated(error, watch, context.objects.storage.compactedRevision());
  }
}

function translated(error: unknown, watch: Following, compacted: Revision = watch.after): unknown {
  if (!(error instanceof StorageError) || error.code !== "Compacted") return error;
  return tooOldResourceVersion(resourceVersionOf(watch.after), resourceVersionOf(compacted));
}

/** Bookmarks come once a minute and shortly before the server ends the watch; with its end, what was told of after that. */
function nextBookmark(now: number, endsAt: number): number {
  const last = endsAt - lastBookmarkMs;
  return now < last ? Math.min(now + bookmarkEveryMs, last) : Number.POSITIVE_INFINITY;
}

const bookmarkEveryMs = 60_000;
const lastBookmarkMs = 2_000;

/** Spread out, so that the clients of one start do not all come back at once. */
function defaultTimeoutSeconds(context: ApiContext): number {
  return 1_800 * (1 + context.runtime.random.float());
}

/** Joins lines into chunks, so that a large state does not cost a write for each object. */
function* chunksOf<T>(items: readonly T[], line: (item: T) => string): Generator<Uint8Array> {
  let text = "";
  for (const item of items) {
    text += line(item);
    if (text.length < chunkCharacters) continue;
    yield encoder.encode(text);
    text = "";
  }
  if (text !== "") yield encoder.encode(text);
}

const chunkCharacters = 64 * 1024;

function watchPrefix(
  resource: ServedResource,
  of: { readonly namespace: string | undefined; readonly selection: Selection },
): string {
  const { definition } = resource;
  const { namespace } = of;
  const { name } = of.selection;
  if (name !== undefined && !/[/%]/.test(name) && (!definition.namespaced || namespace !== undefined)) {
    return objectKeyOf(definition, { name, ...(namespace !== undefined && { namespace }) });
  }
  return collectionPrefix(definition, definition.namespaced ? namespace : undefined);
}
