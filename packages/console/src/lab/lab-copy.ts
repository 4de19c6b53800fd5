import { Informer, KubeClient } from "@meridian/controller";
import { FaultyHttp } from "@meridian/controller/faults";
import type { EventFault } from "@meridian/controller/faults";
import { podType } from "@meridian/kube";
import type { Pod } from "@meridian/kube";
import { silentLogger } from "@meridian/runtime";
import type { Runtime } from "@meridian/runtime";
import type { ArmedFault, CopyCounters, LabEvent, ServerCounters } from "../lab-state.ts";
import { eventFault, wireIncident } from "../wire/wire-incident.ts";
import type { WireIncident } from "../wire/wire-incident.ts";
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
  readonly wire: FaultyHttp;
  readonly informer: Informer<Pod>;
  readonly countedBefore: ServerCounters;
  /** Times that it was read by the button. */
  reads = 0;
  readonly #client: KubeClient;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  #armed: { readonly fault: ArmedFault; readonly asEventFault: EventFault } | undefined;
  #told = { fullReads: 0, expired: 0 };
  #tooOld = false;
  /** The version at which the copy was left behind, until it is told that it has caught up. */
  #gap: { readonly version: number; readonly watchesMin: number } | undefined;

  constructor(runtime: Runtime, options: LabCopyOptions) {
    const { apiServer, onChange } = options;
    this.name = options.name;
    this.countedBefore = options.countedBefore;
    this.wire = new FaultyHttp(runtime, {
      chunks: "whole",
      observer: {
        onChange,
        onEventFault: (befallen) => {
          if (befallen.fault === this.#armed?.asEventFault) this.#armed = undefined;
          const incident = wireIncident(befallen);
          if (incident !== undefined) options.onIncident(this, incident);
        },
      },
    });
    this.#client = new KubeClient(this.wire.inFrontOf(runtime), {
      origin: apiServer.origin,
      token: apiServer.tokenOf(options.name),
      deadlineMs: patienceMs,
    });
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

  /** The fault that waits for an event. */
  get armed(): ArmedFault | undefined {
    return this.#armed?.fault;
  }

  /** The next event of the watch meets this fault, and no other that was armed before. */
  arm(fault: ArmedFault): void {
    this.#armed = { fault, asEventFault: eventFault(fault) };
    this.wire.spareEvents();
    this.wire.befallEvent(this.#armed.asEventFault);
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
    if (gap === undefined || this.wire.mode !== "open" || this.wire.heldEvents > 0) return news;
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
