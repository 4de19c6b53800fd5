import type { ConfigMap, KubeObject } from "@meridian/kube";
import { expired, tooManyRequests, tooOldResourceVersion, internalError } from "@meridian/kube";
import type { StatusError } from "@meridian/kube";
import type { HttpHandler, HttpRequest, HttpResponse } from "@meridian/runtime";

interface Change {
  readonly version: number;
  readonly key: string;
  /** Absent: deleted. */
  readonly object: ConfigMap | undefined;
  readonly before: ConfigMap | undefined;
}

/** What a watch connection does next beside its normal work. */
interface OpenWatch {
  readonly send: (text: string) => void;
  readonly end: () => void;
}

/**
 * The smallest server of one collection (ConfigMaps in namespace `n`) that keeps the rules of list and watch: it knows
 * its whole history, pretends to have lost a part of it, and does to its watches what a test asks for.
 */
export class TruthServer {
  readonly objects: Map<string, ConfigMap> = new Map();
  version = 10;
  /** Everything up to this version is compacted. */
  compactedAt = 0;
  /** The next requests are answered by these, oldest first. */
  readonly refusals: StatusError[] = [];
  lists = 0;
  watchesOpened = 0;
  readonly #history: Change[] = [];
  readonly #watches = new Set<OpenWatch>();
  #uids = 0;

  /** Creates or changes an object. */
  put(name: string, data: Readonly<Record<string, string>>): void {
    const key = `n/${name}`;
    const before = this.objects.get(key);
    const version = ++this.version;
    const uid = before?.metadata.uid ?? `u${++this.#uids}`;
    const metadata = { name, namespace: "n", uid, resourceVersion: String(version) };
    this.#commit({ version, key, before, object: { apiVersion: "v1", kind: "ConfigMap", metadata, data } });
  }

  remove(name: string): void {
    const key = `n/${name}`;
    const before = this.objects.get(key);
    if (before !== undefined) this.#commit({ version: ++this.version, key, before, object: undefined });
  }

  /** A write to some other collection of the same store. */
  tick(): void {
    this.version++;
  }

  /** Loses the history up to now. */
  compact(): void {
    this.compactedAt = this.version;
  }

  bookmark(): void {
    const metadata = { resourceVersion: String(this.version) };
    this.sendRaw(`${JSON.stringify({ type: "BOOKMARK", object: { apiVersion: "v1", kind: "ConfigMap", metadata } })}\n`);
  }

  /** Sends a change of the past to all watches once more: the last one, or one so many before it. */
  repeat(back: number): void {
    const change = this.#history.at(-1 - back);
    if (change !== undefined) this.sendRaw(lineOf(change));
  }

  /** Sends octets as they are to all watches. */
  sendRaw(text: string): void {
    for (const watch of this.#watches) watch.send(text);
  }

  /** Ends all watches; with `inside`, in the middle of a document. */
  endWatches(options: { readonly inside?: boolean } = {}): void {
    for (const watch of this.#watches) {
      if (options.inside === true) watch.send('{"type":"MODIFIED","object":{"kind":"Config');
      watch.end();
    }
  }

  /** Ends all watches by an ERROR event. */
  failWatches(error: StatusError): void {
    this.sendRaw(`${JSON.stringify({ type: "ERROR", object: error.status })}\n`);
  }

  readonly handler: HttpHandler = async (request) => {
    const query = new URLSearchParams(request.target.split("?")[1] ?? "");
    try {
      const refusal = this.refusals.shift();
      if (refusal !== undefined) throw refusal;
      return query.get("watch") === null ? this.#list(query) : this.#watch(query, request);
    } catch (error) {
      const { status } = error as StatusError;
      return json(status.code, status);
    }
  };

  #commit(change: Change): void {
    if (change.object === undefined) this.objects.delete(change.key);
    else this.objects.set(change.key, change.object);
    this.#history.push(change);
    for (const watch of this.#watches) watch.send(lineOf(change));
  }

  #list(query: URLSearchParams): HttpResponse {
    this.lists++;
    const token = query.get("continue");
    const [revision, start] = token === null ? [this.version, ""] : (JSON.parse(token) as [number, string]);
    if (revision < this.compactedAt) throw expired("the continue token is too old");
    const state = [...this.stateAt(revision)].sort(([a], [b]) => (a < b ? -1 : 1)).filter(([key]) => key > start);
    const limit = Number(query.get("limit") ?? 0);
    const page = limit > 0 ? state.slice(0, limit) : state;
    const more = page.length < state.length;
    return json(200, {
      apiVersion: "v1",
      kind: "ConfigMapList",
      metadata: {
        resourceVersion: String(revision),
        ...(more ? { continue: JSON.stringify([revision, page.at(-1)?.[0]]) } : {}),
      },
      items: page.map(([, { metadata, data }]) => ({ metadata, data })),
    });
  }

  #watch(query: URLSearchParams, request: HttpRequest): HttpResponse {
    this.watchesOpened++;
    const streams = query.get("sendInitialEvents") === "true";
    const from = streams ? this.version : Number(query.get("resourceVersion"));
    if (from < this.compactedAt) throw tooOldResourceVersion(String(from), String(this.compactedAt));
    const texts: string[] = [];
    if (streams) {
      for (const object of this.objects.values()) texts.push(`${JSON.stringify({ type: "ADDED", object })}\n`);
      const metadata = { resourceVersion: String(this.version), annotations: { "k8s.io/initial-events-end": "true" } };
      texts.push(`${JSON.stringify({ type: "BOOKMARK", object: { apiVersion: "v1", kind: "ConfigMap", metadata } })}\n`);
    }
    texts.push(...this.#history.filter(({ version }) => version > from).map(lineOf));

    let wake = (): void => {};
    let ended = false;
    const watch: OpenWatch = {
      send: (text) => {
        texts.push(text);
        wake();
      },
      end: () => {
        ended = true;
        this.#watches.delete(watch);
        wake();
      },
    };
    this.#watches.add(watch);
    request.signal.addEventListener("abort", watch.end, { once: true });
    if (request.signal.aborted) watch.end();
    async function* body(): AsyncGenerator<Uint8Array, void> {
      for (;;) {
        const text = texts.shift();
        if (text !== undefined) yield new TextEncoder().encode(text);
        else if (ended) return;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    }
    return { status: 200, headers: { "content-type": "application/json" }, body: body() };
  }

  /** The collection as it was at a version. */
  stateAt(revision: number): ReadonlyMap<string, ConfigMap> {
    const state = new Map<string, ConfigMap>();
    for (const { version, key, object } of this.#history) {
      if (version > revision) break;
      if (object === undefined) state.delete(key);
      else state.set(key, object);
    }
    return state;
  }
}

/** Some refusals that a server under stress gives. */
export const refusals: Readonly<Record<string, () => StatusError>> = {
  busy: () => tooManyRequests("later", 1),
  broken: () => internalError("etcd is away"),
  gone: () => expired("gone"),
};

/** A deletion carries the last state with the version of the deletion. */
function lineOf({ version, object, before }: Change): string {
  const deleted = before as KubeObject;
  const event =
    object === undefined
      ? {
          type: "DELETED",
          object: { ...deleted, metadata: { ...deleted.metadata, resourceVersion: String(version) } },
        }
      : { type: before === undefined ? "ADDED" : "MODIFIED", object };
  return `${JSON.stringify(event)}\n`;
}

function json(status: number, value: unknown): HttpResponse {
  return {
    status,
    headers: { "content-type": "application/json" },
    body: new TextEncoder().encode(JSON.stringify(value)),
  };
}
