import { Informer, KubeClient } from "@meridian/controller";
import { podType } from "@meridian/kube";
import type { Pod } from "@meridian/kube";
import { silentLogger } from "@meridian/runtime";
import type { Runtime } from "@meridian/runtime";
import type { CopyCounters, LabEvent, ServerCounters } from "../lab-state.ts";
import { FaultyWire } from "../wire/faulty-wire.ts";
import type { WireIncident, WireListener } from "../wire/faulty-wire.ts";
import { labNamespace } from "./lab-pods.ts";
import type { VersionLine } from "./version-line.ts";

/** Where the API server is, and as whom to come to it. */
export interface LabApiServer {
  /** `http://127.0.0.1:8001`, for example. */
  readonly origin: string;
  /** The bearer token of one of `labUsers`. */
  readonly tokenOf: (user: string) => string;
}

/** A cut wire lets requests wait; the client must not take that for a server that does not answer. */
const patienceMs = 24 * 60 * 60_000;

/** Whose copy it is, and who hears of it. */
export interface LabCopyOptions {
  readonly name: string;
  readonly apiServer: LabApiServer;
  /** What the server has counted for a copy of this name before. */
  readonly countedBefore: ServerCounters;
  readonly onChange: () => void;
  readonly onIncident: (copy: LabCopy, incident: WireIncident) => void;
}

/** An informer with a wire that can be cut. It runs until it is disposed. */
export class LabCopy implements AsyncDisposable {
  readonly name: string;
  readonly wire: FaultyWire;
  readonly informer: Informer<Pod>;
  readonly countedBefore: ServerCounters;
  /** Times that it was read by the button. */
  reads = 0;
  readonly #client: KubeClient;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  #told = { fullReads: 0, expired: 0 };
  #tooOld = false;
  /** The version at which the copy was left behind, until it is told that it has caught up. */
  #gap: { readonly version: number; readonly watchesMin: number } | undefined;

  constructor(runtime: Runtime, options: LabCopyOptions) {
    const { apiServer, onChange } = options;
    this.name = options.name;
    this.countedBefore = options.countedBefore;
    const listener: WireListener = {
      onChange,
      onIncident: (incident) => options.onIncident(this, incident),
    };
    this.wire = new FaultyWire(runtime.network.httpClient({ origin: apiServer.origin }), {
      clock: runtime.clock,
      listener,
    });
    this.#client = new KubeClient(
      { ...runtime, network: { ...runtime.network, httpClient: () => this.wire } },
      { origin: apiServer.origin, token: apiServer.tokenOf(options.name), deadlineMs: patienceMs },
    );
    // What goes wrong is told by the lab's own log: a person has just done it.
    this.informer = new Informer<Pod>(
      { ...runtime, log: silentLogger },
      { client: this.#client, type: podType, namespace: labNamespace },
    );
    this.informer.addHandler({ onAdd: onChange, onUpdate: onChange, onDelete: onChange });
    this.#running = this.informer.run(this.#stopping.signal);
  }

  /** Everything in the copy. Reads memory, never the server. */
  read(): readonly Pod[] {
    return this.informer.lister.list(labNamespace);
  }

  get counters(): CopyCounters {
    const { replaces, resyncs, watches, expired, events, failures } = this.informer.status;
    return { fullReads: replaces, resyncs, watches, expired, events, failures };
  }

  /**
   * From now on changes may pass this copy by. Where the connection broke, another watch is needed to catch up; on a silent
   * wire the old one goes on.
   */
  beginGap(line: VersionLine, how: "broken" | "silent"): void {
    const version = this.#gap?.version ?? line.versionOf(this.informer.version);
    const watchesMin = how === "broken" ? this.counters.watches + 1 : (this.#gap?.watchesMin ?? 0);
    this.#gap = { version, watchesMin };
  }

  /** What has happened to the copy since it was asked last. */
  news(about: {
    readonly line: VersionLine;
    readonly writes: readonly number[];
    readonly behind: number;
    readonly oldestResumable: number;
  }): readonly LabEvent[] {
    const { line, oldestResumable } = about;
    const { fullReads, expired, watches } = this.counters;
    const version = line.versionOf(this.informer.version);
    const copy = this.name;
    const news: LabEvent[] = [];

    if (expired > this.#told.expired) {
      this.#tooOld = true;
      news.push({ code: "tooOld", copy, version: this.#gap?.version ?? version, oldestResumable });
    }
    if (fullReads > this.#told.fullReads) {
      const why = this.#told.fullReads === 0 ? "first" : this.#tooOld ? "tooOld" : "other";
      news.push({ code: "everythingRead", copy, why, version, pods: this.read().length });
      this.#tooOld = false;
      this.#gap = undefined;
    }
    this.#told = { fullReads, expired };

    const gap = this.#gap;
    if (gap === undefined || this.wire.mode !== "open" || this.wire.heldBack > 0) return news;
    if (!this.informer.connected || about.behind > 0) return news;
    if (watches < gap.watchesMin) return news;
    const changes = about.writes.filter((write) => write > gap.version && write <= version).length;
    news.push({ code: "caughtUp", copy, fromVersion: gap.version, toVersion: version, changes });
    this.#gap = undefined;
    return news;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort(new Error(`${this.name} is removed`));
    await this.#running;
    await this.#client[Symbol.asyncDispose]();
  }
}
