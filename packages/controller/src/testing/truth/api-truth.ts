import {
  apiVersionOf,
  badRequest,
  conflict,
  expired,
  formatTime,
  internalError,
  isStatusError,
  matchesFields,
  matchesLabels,
  methodNotAllowedHere,
  notFound,
  objectKey,
  parseFieldSelector,
  parseLabelSelector,
  successStatus,
  tooLargeResourceVersion,
  unknownPath,
} from "@meridian/kube";
import type { KubeObject, ResourceType } from "@meridian/kube";
import type { Clock, HttpHandler, HttpResponse } from "@meridian/runtime";
import { TruthHistory } from "./truth-history.ts";
import type { TruthChange } from "./truth-history.ts";
import { jsonBody, parseTruthRequest } from "./truth-request.ts";
import type { TruthRequest } from "./truth-request.ts";
import { watchResponse } from "./truth-watch.ts";
import type { OpenWatch, Selects } from "./truth-watch.ts";
import { createdObject, patchedObject, updatedObject } from "./truth-writes.ts";

/** What a truth serves. */
export interface ApiTruthOptions {
  /** Every kind that requests may mean; all others are answered 404. */
  readonly types: readonly ResourceType[];
  /** Hears of each request for another kind: which it was, and what to do. */
  readonly onUnserved?: (message: string) => void;
  readonly clock: Pick<Clock, "now" | "after">;
  /** Default 10. */
  readonly firstVersion?: number;
}

/** Requests answered so far, by what they asked for. */
export interface TruthCounts {
  readonly get: number;
  /** Pages, each of which is a request. */
  readonly list: number;
  readonly watch: number;
  readonly write: number;
}

/**
 * An API server for tests of controllers: any kinds, no schemas, all in memory, and one history that everything can be
 * compared with. It keeps the rules of reads, watches and writes that clients rely on: one version for the whole store,
 * consistent pages, conflicts, watches from any version that is not compacted, selectors, initial events, finalizers,
 * generations and status subresources. It knows no defaults, no admission, no garbage collection; server-side apply and
 * strategic patches are merge patches here.
 *
 * Use `handler` with `network.serveHttp`, or a `FaultyHttp` over `httpTo(truth.handler)` without any network.
 */
export class ApiTruth {
  readonly #types: readonly ResourceType[];
  readonly #onUnserved: ((message: string) => void) | undefined;
  readonly #clock: Pick<Clock, "now" | "after">;
  readonly #history: TruthHistory;
  readonly #watches = new Set<OpenWatch>();
  readonly #counts = { get: 0, list: 0, watch: 0, write: 0 };
  #uids = 0;

  constructor(options: ApiTruthOptions) {
    this.#types = options.types;
    this.#onUnserved = options.onUnserved;
    this.#clock = options.clock;
    this.#history = new TruthHistory(options.firstVersion ?? 10);
  }

  /** The version of the newest write. */
  get version(): number {
    return this.#history.version;
  }

  get counts(): TruthCounts {
    return { ...this.#counts };
  }

  /** Watches that are open now. */
  get openWatches(): number {
    return this.#watches.size;
  }

  /** Creates or replaces an object as it is, without any rules but version and uid. Returns it as stored. */
  put<T extends KubeObject>(object: T): T {
    const type = this.#typeOf(object);
    const before = this.#history.get(type, objectKey(object.metadata));
    const nowMs = this.#clock.now();
    const uid = before?.metadata.uid ?? object.metadata.uid ?? this.#nextUid();
    const creationTimestamp = before?.metadata.creationTimestamp ?? formatTime(nowMs);
    return this.#history.put(type, { ...object, metadata: { ...object.metadata, uid, creationTimestamp } });
  }

  /** Deletes an object, whatever its finalizers say. */
  remove(type: ResourceType, ref: { readonly namespace?: string; readonly name: string }): void {
    this.#history.remove(type, objectKey(ref));
  }

  get<T extends KubeObject>(
    type: ResourceType<T>,
    ref: { readonly namespace?: string; readonly name: string },
  ): T | undefined {
    return this.#history.get(type, objectKey(ref)) as T | undefined;
  }

  /** All objects of a kind as they are now, or as they were at a version, sorted by key. */
  list<T extends KubeObject>(type: ResourceType<T>, version: number = Infinity): readonly T[] {
    return [...this.#history.stateAt(type, version).values()] as T[];
  }

  /** Calls `observer` at each change. The returned function ends it. */
  observe(observer: (change: TruthChange) => void): () => void {
    return this.#history.observe(observer);
  }

  /** A write to something that nobody here sees: the version moves. */
  tick(): void {
    this.#history.tick();
  }

  /** Loses the history up to now: watches and pages of before are answered 410. */
  compact(): void {
    this.#history.compact(this.#history.version);
  }

  /** Goes back to a version of before, as a server does whose store is restored from a backup. Every watch ends. */
  restore(version: number): void {
    this.#history.restore(version);
    this.endWatches();
  }

  /** Sends a bookmark on every watch. */
  bookmark(): void {
    for (const watch of this.#watches) watch.bookmark();
  }

  /** Ends every watch, as a server does that closes. */
  endWatches(): void {
    for (const watch of [...this.#watches]) watch.end();
  }

  readonly handler: HttpHandler = async (request) => {
    try {
      const parsed = parseTruthRequest(request, this.#types);
      if (!("unserved" in parsed)) return this.#answer(parsed);
      const message = `this test's API serves no ${parsed.unserved}; add its type to "types"`;
      this.#onUnserved?.(message);
      return json(404, { ...unknownPath().status, message });
    } catch (error) {
      const { status } = isStatusError(error) ? error : internalError(String(error), { cause: error });
      return json(status.code ?? 500, status);
    }
  };

  #answer(request: TruthRequest): HttpResponse {
    const { method, name, namespace, type, query } = request;
    if (method === "GET" && name !== undefined) {
      this.#counts.get++;
      return json(200, this.#present(request));
    }
    if (method === "GET" && ["1", "true"].includes(query.get("watch") ?? "")) {
      this.#counts.watch++;
      return watchResponse(request, {
        history: this.#history,
        clock: this.#clock,
        selects: selection(request),
        onOpen: (watch) => this.#watches.add(watch),
        onEnd: (watch) => this.#watches.delete(watch),
      });
    }
    if (method === "GET") {
      this.#counts.list++;
      return this.#list(request);
    }

    this.#counts.write++;
    const key = objectKey({ name: name ?? "", ...(namespace === undefined ? {} : { namespace }) });
    const before = this.#history.get(type, key);
    const creation = { uid: this.#nextUid(), nowMs: this.#clock.now() };
    if (method === "POST" && name === undefined) {
      const present = (at: { readonly name: string }): KubeObject | undefined =>
        this.#history.get(type, objectKey({ ...at, ...(namespace === undefined ? {} : { namespace }) }));
      return json(201, this.#history.put(type, createdObject(request, present, creation)));
    }
    if (name === undefined) throw methodNotAllowedHere();
    if (method === "DELETE") return this.#delete(request, before);
    if (method === "PUT") return this.#store(type, before, updatedObject(request, before));
    if (method === "PATCH") return this.#store(type, before, patchedObject(request, before, creation));
    throw methodNotAllowedHere();
  }

  /** Stores what a write made, unless it changed nothing; without its last finalizer a deleted object goes. */
  #store(type: ResourceType, before: KubeObject | undefined, after: KubeObject): HttpResponse {
    if (after === before) return json(200, after);
    const stored = this.#history.put(type, after);
    const { deletionTimestamp, finalizers = [] } = stored.metadata;
    if (deletionTimestamp !== undefined && finalizers.length === 0) {
      this.#history.remove(type, objectKey(stored.metadata));
    }
    return json(before === undefined ? 201 : 200, stored);
  }

  #delete(request: TruthRequest, before: KubeObject | undefined): HttpResponse {
    const { type, name = "" } = request;
    if (before === undefined) throw notFound(type, name);
    const { preconditions } = (request.body.length === 0 ? {} : jsonBody(request)) as {
      readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
    };
    const { metadata } = before;
    if ((preconditions?.uid ?? metadata.uid) !== metadata.uid)
      throw conflict(type, name, "Precondition failed: UID");
    if ((preconditions?.resourceVersion ?? metadata.resourceVersion) !== metadata.resourceVersion) {
      throw conflict(type, name, "Precondition failed: ResourceVersion");
    }
    if ((metadata.finalizers ?? []).length === 0) {
      this.#history.remove(type, objectKey(metadata));
      return json(200, successStatus());
    }
    if (metadata.deletionTimestamp !== undefined) return json(200, before);
    const deletionTimestamp = formatTime(this.#clock.now());
    return json(200, this.#history.put(type, { ...before, metadata: { ...metadata, deletionTimestamp } }));
  }

  #list(request: TruthRequest): HttpResponse {
    const { query, type } = request;
    const token = query.get("continue");
    const [version, start] = token === null ? [this.version, ""] : parseToken(token);
    const asked = query.get("resourceVersion") ?? "";
    if (Number(asked) > this.version) throw tooLargeResourceVersion(asked, String(this.version));
    if (version < this.#history.compactedAt) throw expired("the continue token is too old; list again");
    const selects = selection(request);
    const found = [...this.#history.stateAt(type, version)].filter(
      ([key, object]) => key > start && selects(object),
    );
    const limit = Number(query.get("limit") ?? 0);
    const page = limit > 0 ? found.slice(0, limit) : found;
    const last = page.at(-1)?.[0] ?? "";
    const rest = found.length - page.length;
    return json(200, {
      apiVersion: apiVersionOf(type),
      kind: `${type.kind}List`,
      metadata: {
        resourceVersion: String(version),
        ...(rest > 0 ? { continue: JSON.stringify([version, last]) } : {}),
      },
      // As servers send built-in kinds: the list's kind says what its items are.
      items: page.map(([, { apiVersion: _apiVersion, kind: _kind, ...item }]) => item),
    });
  }

  #present({ type, namespace, name = "" }: TruthRequest): KubeObject {
    const object = this.#history.get(
      type,
      objectKey({ name, ...(namespace === undefined ? {} : { namespace }) }),
    );
    if (object === undefined) throw notFound(type, name);
    return object;
  }

  #typeOf({ apiVersion, kind }: KubeObject): ResourceType {
    const found = this.#types.find((type) => type.kind === kind && apiVersionOf(type) === apiVersion);
    if (found === undefined) throw new Error(`this truth does not serve ${apiVersion} ${kind}; add its type`);
    return found;
  }

  #nextUid(): string {
    const number = (++this.#uids).toString(16).padStart(12, "0");
    return `00000000-0000-4000-8000-${number}`;
  }
}

function selection({ namespace, query, type }: TruthRequest): Selects {
  const labels = parseLabelSelector(query.get("labelSelector") ?? "");
  const fields = parseFieldSelector(query.get("fieldSelector") ?? "");
  for (const { field } of fields.requirements) {
    if (field !== "metadata.name" && field !== "metadata.namespace") {
      throw badRequest(`field label not supported: ${field}`);
    }
  }
  return ({ metadata }) =>
    (!type.namespaced || namespace === undefined || metadata.namespace === namespace) &&
    matchesLabels(labels, metadata.labels ?? {}) &&
    matchesFields(fields, (field) => (field === "metadata.name" ? metadata.name : metadata.namespace));
}

function parseToken(token: string): readonly [number, string] {
  const value: unknown = JSON.parse(token);
  if (!Array.isArray(value)) throw badRequest("continue key is not valid");
  return [Number(value[0]), String(value[1])];
}

function json(status: number, value: unknown): HttpResponse {
  return {
    status,
    headers: { "content-type": "application/json" },
    body: new TextEncoder().encode(JSON.stringify(value)),
  };
}
