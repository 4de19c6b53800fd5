import { KubeClient } from "@meridian/controller";
import { podType } from "@meridian/kube";
import type { Pod } from "@meridian/kube";
import type { Clock, HttpClient } from "@meridian/runtime";
import type { ServerCounters } from "../lab-state.ts";
import { labNamespace } from "./lab-pods.ts";
import { copyNames } from "./lab-users.ts";

/** One write, as the server's history tells it. */
export interface TruthChange {
  readonly resourceVersion: string;
  readonly type: "created" | "changed" | "deleted";
  readonly resource: string;
  readonly name: string;
  readonly user: string;
  readonly fieldManager: string;
}

/** The server's state at one moment. */
export interface TruthReading {
  readonly resourceVersion: string;
  readonly compactedResourceVersion: string;
  readonly pods: readonly Pod[];
  readonly changes: readonly TruthChange[];
  /** By user. */
  readonly counters: ReadonlyMap<string, ServerCounters>;
}

const patienceMs = 10_000;

/** More than any history here is long: nothing may be forgotten before it was seen. */
const changesMax = 1_000;

/**
 * Reads the truth, and forgets its past: by the Kubernetes API as far as that goes, and by the admin paths of Meridian's API server
 * (packages/apiserver, "Outside the Kubernetes API").
 */
export class Truth implements AsyncDisposable {
  readonly client: KubeClient;
  readonly #clock: Pick<Clock, "after">;
  readonly #http: HttpClient;
  readonly #authorization: string;
  readonly #open = new Set<AbortController>();

  constructor(
    clock: Pick<Clock, "after">,
    parts: { readonly client: KubeClient; readonly http: HttpClient; readonly token: string },
  ) {
    this.client = parts.client;
    this.#clock = clock;
    this.#http = parts.http;
    this.#authorization = `Bearer ${parts.token}`;
  }

  read(): Promise<TruthReading> {
    return this.#bounded((signal) => this.#read(signal));
  }

  /** How often each copy asked for something, as the server counted it. */
  counters(): Promise<ReadonlyMap<string, ServerCounters>> {
    return this.#bounded((signal) => this.#counters(signal));
  }

  /** Forgets all but the newest `keep` writes, or everything up to a version. */
  async compact(what: { readonly keep: number } | { readonly resourceVersion: string }): Promise<void> {
    await this.#bounded((signal) => this.#ask("POST", "/meridian/compact", { body: what, signal }));
  }

  /** Ends what is under way with this reason. */
  stop(reason: unknown): void {
    for (const each of this.#open) each.abort(reason);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.client[Symbol.asyncDispose](), this.#http[Symbol.asyncDispose]()]);
  }

  async #bounded<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const bounds = new AbortController();
    const late = new Error(`the API server has not answered within ${patienceMs} ms`);
    const cancel = this.#clock.after(patienceMs, () => bounds.abort(late));
    this.#open.add(bounds);
    try {
      return await work(bounds.signal);
    } finally {
      cancel();
      this.#open.delete(bounds);
    }
  }

  async #read(signal: AbortSignal): Promise<TruthReading> {
    const [list, counters] = await Promise.all([
      this.client.list<Pod>(podType, { namespace: labNamespace, signal }),
      this.#counters(signal),
    ]);
    const resourceVersion = list.metadata.resourceVersion ?? "";
    // After the list, so that it tells of everything in the list; what came in between is for the next reading.
    const history = await this.#ask<HistoryAnswer>("GET", `/meridian/history?limit=${changesMax}`, {
      signal,
    });
    return {
      resourceVersion,
      compactedResourceVersion: history.compactedResourceVersion,
      pods: list.items,
      changes: history.changes
        .filter((change) => BigInt(change.resourceVersion) <= BigInt(resourceVersion))
        .map(({ user = "", fieldManager = "", ...change }) => ({ ...change, user, fieldManager })),
      counters,
    };
  }

  async #counters(signal: AbortSignal): Promise<ReadonlyMap<string, ServerCounters>> {
    const { requests } = await this.#ask<RequestsAnswer>("GET", "/meridian/requests", { signal });
    const counters = new Map<string, ServerCounters>();
    for (const user of copyNames) {
      const of = (verb: string): RequestsAnswer["requests"][number] | undefined =>
        requests.find(
          (entry) => entry.user === user && entry.verb === verb && entry.resource === podType.plural,
        );
      counters.set(user, {
        fullReads: of("list")?.count ?? 0,
        watches: of("watch")?.count ?? 0,
        watchesOpen: of("watch")?.open ?? 0,
      });
    }
    return counters;
  }

  /** Twice where a kept connection turns out to be closed: all of these may be repeated. */
  async #ask<T>(
    method: "GET" | "POST",
    target: string,
    options: { readonly body?: object; readonly signal: AbortSignal },
  ): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#askOnce<T>(method, target, options);
      } catch (error) {
        const { code } = error as { readonly code?: unknown };
        if (attempt > 1 || options.signal.aborted || (code !== "Broken" && code !== "Closed")) throw error;
      }
    }
  }

  async #askOnce<T>(
    method: "GET" | "POST",
    target: string,
    options: { readonly body?: object; readonly signal: AbortSignal },
  ): Promise<T> {
    const { body, signal } = options;
    const response = await this.#http.request({
      method,
      target,
      headers: {
        authorization: this.#authorization,
        accept: "application/json",
        "content-type": "application/json",
      },
      ...(body !== undefined && { body: new TextEncoder().encode(JSON.stringify(body)) }),
      signal,
    });
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body) text += decoder.decode(chunk, { stream: true });
    if (response.status !== 200) {
      throw new Error(`${method} ${target} was answered ${response.status}: ${text.slice(0, 500)}`);
    }
    return JSON.parse(text) as T;
  }
}

interface HistoryAnswer {
  readonly compactedResourceVersion: string;
  readonly changes: readonly (Omit<TruthChange, "user" | "fieldManager"> & Partial<TruthChange>)[];
}

interface RequestsAnswer {
  readonly requests: readonly {
    readonly user: string;
    readonly verb: string;
    readonly resource: string;
    readonly count: number;
    readonly open: number;
  }[];
}
