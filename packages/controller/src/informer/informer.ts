import { setMaxListeners } from "node:events";
import type { KubeObject, ResourceType } from "@meridian/kube";
import type { Clock, Logger, Random } from "@meridian/runtime";
import { describeTarget } from "../client/resource-path.ts";
import type { WireFormat } from "../client/wire-format.ts";
import { ControllerError } from "../controller-error.ts";
import { deadlineSignal } from "../deadline-signal.ts";
import { compareVersions } from "../reflector/compare-versions.ts";
import { Reflector } from "../reflector/reflector.ts";
import type {
  CollectionClient,
  FailureNotice,
  FailureVerdict,
  ReflectorCounts,
} from "../reflector/reflector-options.ts";
import { CopyPart } from "./copy-part.ts";
import type { Change } from "./delivery.ts";
import { HandlerFeed } from "./handler-feed.ts";
import type { HandlerRegistration, InformerHandler } from "./informer-handler.ts";
import type { IndexFunction, Lister } from "./lister.ts";
import { RawCopy } from "./raw-copy.ts";
import { VersionWaiters } from "./version-waiters.ts";

/** What an informer needs of the world. */
export interface InformerRuntime {
  readonly clock: Pick<Clock, "monotonicMs" | "after" | "sleep">;
  readonly random: Pick<Random, "float">;
  readonly log: Logger;
}

/** Which objects to copy. */
export interface InformerSelection {
  /** Absent: all namespaces. */
  readonly namespace?: string;
  /** Several namespaces in one copy, each followed on its own: for whoever may not read the others. */
  readonly namespaces?: readonly [string, ...string[]];
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** What to copy, and how. */
export interface InformerOptions<T extends KubeObject = KubeObject> extends InformerSelection {
  readonly client: CollectionClient;
  readonly type: ResourceType<T>;
  /**
   * Changes an object before it is stored, to save memory: `dropManagedFields`, for example. Must keep name, namespace,
   * uid and resourceVersion. Each object is then decoded and encoded on arrival.
   */
  readonly transform?: (object: T) => T;
  /** Tells each handler of each object again this often, at least 1000. Default: never; a handler may have its own. */
  readonly resyncMs?: number;
  /** Objects per page of a list. Default 500. */
  readonly pageSize?: number;
  /**
   * Takes the initial state as a stream where the server offers it, else as a list. Default false: a list is read as it arrives,
   * too, and costs less.
   */
  readonly watchList?: boolean;
  /**
   * What to ask the server for in place of JSON: `protobuf` of `@meridian/controller/protobuf`. Kinds that it does not
   * know, and servers that do not speak it, are copied by JSON as without it.
   */
  readonly wireFormat?: WireFormat;
  /**
   * Lets the server compress lists (gzip), as client-go does. Default true; false where nearly all is random, such as
   * Secrets, or the network is faster than the compression.
   */
  readonly compressed?: boolean;
  /**
   * Hears of each failed list and watch, and may end the run by `stop`, which then rejects with the error. Without it no
   * failure is the last: a 403, for example, passes when somebody grants the role.
   */
  readonly onFailure?: (error: unknown, about: FailureNotice) => FailureVerdict;
}

/** How an informer is doing, for health checks and for people. */
export interface InformerStatus extends ReflectorCounts {
  readonly objects: number;
  /** Memory that the objects take as octets; what was decoded comes on top. */
  readonly bytes: number;
  /** What the copy is complete up to; of several namespaces, that of the one furthest behind. Empty before the first time. */
  readonly version: string;
  /** Whether a watch is open now; of several namespaces, of each. */
  readonly connected: boolean;
  readonly hasSynced: boolean;
  /** How often the whole collection was read again after the first time, because the history was gone or in doubt. */
  readonly resyncs: number;
  /**
   * Milliseconds since the server last confirmed the copy, by a list, an event or a bookmark. It grows while the copy is
   * cut off, and, up to the next bookmark, while nothing happens. Infinity before the first word.
   */
  readonly lagMs: number;
  /** The failure of a list or watch that was seen last; it stays when things go well again. */
  readonly lastFailure: { readonly message: string; readonly agoMs: number } | undefined;
  /** Errors of handlers, transforms and index functions. */
  readonly handlerErrors: number;
}

/** A resync more often than this would only tell of what was told a moment ago. */
const resyncMsMin = 1_000;

interface Feed {
  readonly resyncMs: number | undefined;
  cancelResync: () => void;
}

/**
 * A copy of a collection that follows its server, shared by any number of readers.
 *
 * The copy at version r is the collection at version r. When the stream breaks it is resumed without a gap; when the
 * history is gone everything is taken again, and only what differs is told to the handlers. Objects are kept as the JSON
 * that came and decoded when somebody reads them; they are frozen.
 *
 *     const services = new Informer<Service>(runtime, { client, type: serviceType });
 *     services.addHandler(enqueueKeys(controller));
 *     const running = services.run(signal);
 *     await services.synced;
 *     services.lister.list("default");
 */
export class Informer<T extends KubeObject = KubeObject> {
  readonly type: ResourceType<T>;
  readonly lister: Lister<T>;
  /** Resolves when the copy is complete for the first time; stays pending if it never is. */
  readonly synced: Promise<void>;
  readonly #clock: InformerRuntime["clock"];
  readonly #log: Logger;
  readonly #options: InformerOptions<T>;
  readonly #reflectors: readonly Reflector[];
  readonly #copy: RawCopy<T>;
  readonly #feeds = new Map<HandlerFeed<T>, Feed>();
  readonly #waiters = new VersionWaiters((version) => this.hasReached(version));
  #resolveSynced: () => void = () => {};
  /** Parts that were never complete yet. */
  #incomplete: number;
  #running = false;
  #handlerErrors = 0;

  constructor(runtime: InformerRuntime, options: InformerOptions<T>) {
    const { type, namespace, namespaces = [namespace] } = options;
    const places = [...new Set(namespaces)];
    this.type = type;
    this.#clock = runtime.clock;
    this.#log = runtime.log.child({ informer: describeTarget(type, { namespace: places.join(",") }) });
    this.#options = options;
    this.#copy = new RawCopy<T>({
      type,
      transform: options.transform,
      onTransformError: (error, about) => this.#report("transform failed", error, about),
      onIndexError: (error, about) => this.#report("index function failed", error, about),
    });
    this.lister = this.#copy.store;
    this.synced = new Promise((resolve) => (this.#resolveSynced = resolve));
    this.#incomplete = places.length;
    this.#reflectors = places.map((place) => this.#reflector(runtime, place, places.length > 1));
  }

  /** True once the copy has been complete. It stays true while the server is away: see `connected` and `lagMs`. */
  get hasSynced(): boolean {
    return this.#incomplete === 0;
  }

  /** See `InformerStatus`. */
  get version(): string {
    return this.#reflectors.map(({ version }) => version).reduce(older);
  }

  /** See `InformerStatus`. */
  get connected(): boolean {
    return this.#reflectors.every(({ connected }) => connected);
  }

  /** See `InformerStatus`. */
  get resyncs(): number {
    return this.#reflectors.reduce((sum, { counts }) => sum + Math.max(0, counts.replaces - 1), 0);
  }

  /** See `InformerStatus`. */
  lagMs(): number {
    return Math.max(...this.#reflectors.map((reflector) => reflector.silentMs()));
  }

  get status(): InformerStatus {
    return {
      ...this.#reflectors.map(({ counts }) => counts).reduce(sumOf),
      objects: this.#copy.store.size,
      bytes: this.#copy.bytes,
      version: this.version,
      connected: this.connected,
      hasSynced: this.hasSynced,
      resyncs: this.resyncs,
      lagMs: this.lagMs(),
      lastFailure: this.#lastFailure(),
      handlerErrors: this.#handlerErrors,
    };
  }

  /**
   * Whether the copy has come to this version of the same resource, as a write answers it in `metadata.resourceVersion`:
   * then the copy shows that write, or what became of it. False where versions are no decimals and differ.
   */
  hasReached(version: string): boolean {
    return this.#reflectors.every((reflector) => {
      const order = reflector.version === "" ? undefined : compareVersions(reflector.version, version);
      return order !== undefined && order >= 0;
    });
  }

  /**
   * Resolves when the copy has come to this version: see `hasReached`. A controller that has written waits for its own
   * write so, before it decides by the copy again. A write to an object that the selectors leave out is passed with the
   * next event or bookmark, which may take a minute.
   *
   *     const written = await createOrUpdate(client, type, { desired, signal });
   *     await informer.waitForVersion(written.object.metadata.resourceVersion, { signal });
   *
   * @throws the signal's reason; ControllerError `NoVersion` for an object that no server has answered
   */
  async waitForVersion(
    version: string | undefined,
    options: { readonly signal: AbortSignal },
  ): Promise<void> {
    if (version === undefined || version === "") {
      throw new ControllerError(
        "NoVersion",
        `there is no version to wait for: take metadata.resourceVersion of what the server answered`,
      );
    }
    await this.#waiters.wait(version, options.signal);
  }

  /**
   * Adds a handler at any time. It is first told of everything that is in the copy, then of each change, with nothing lost
   * or doubled between the two. Calls begin once the informer runs.
   */
  addHandler(handler: InformerHandler<T>, options: { readonly resyncMs?: number } = {}): HandlerRegistration {
    const feed = new HandlerFeed<T>(handler, {
      clock: this.#clock,
      objects: this.#copy,
      stopped: !this.#running,
      onError: (error, about) => this.#report("handler failed", error, about),
      onRemove: (removed) => {
        this.#feeds.get(removed)?.cancelResync();
        this.#feeds.delete(removed);
      },
    });
    const resyncMs = options.resyncMs ?? this.#options.resyncMs;
    this.#feeds.set(feed, {
      resyncMs: resyncMs === undefined ? undefined : Math.max(resyncMs, resyncMsMin),
      cancelResync: noop,
    });
    if (this.#running) this.#scheduleResync(feed);
    if (this.hasSynced) feed.present(this.#copy.objects());
    return feed;
  }

  /**
   * Adds an index over all objects, present and future; they are decoded for it on arrival.
   *
   * @throws ControllerError `IndexConflict`
   */
  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    this.#copy.store.addIndex(name, valuesOf);
  }

  /**
   * Follows the server until the signal aborts, then resolves; no handler is called after that. The copy stays readable,
   * and another `run` goes on from it.
   *
   * @throws ControllerError `AlreadyRunning`; the failure at which `onFailure` says `stop`
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#running) {
      throw new ControllerError(
        "AlreadyRunning",
        `the informer of ${describeTarget(this.type)} is running already`,
      );
    }
    this.#running = true;
    for (const feed of this.#feeds.keys()) {
      feed.resume();
      this.#scheduleResync(feed);
    }
    using bounds = deadlineSignal(this.#clock, { signal });
    setMaxListeners(0, bounds.signal); // one for each namespace is what it is for, not a leak to warn of
    const follow = async (reflector: Reflector): Promise<void> => {
      try {
        await reflector.run(bounds.signal);
      } catch (error) {
        // Where one part stops, the others stop, too.
        bounds.abort(error);
        throw error;
      }
    };
    try {
      const ends = await Promise.allSettled(this.#reflectors.map(follow));
      for (const end of ends) if (end.status === "rejected") throw end.reason;
    } finally {
      this.#running = false;
      for (const entry of this.#feeds.values()) entry.cancelResync();
      await Promise.all(Array.from(this.#feeds.keys(), (feed) => feed.stop()));
    }
  }

  #reflector(runtime: InformerRuntime, namespace: string | undefined, isPart: boolean): Reflector {
    const { client, type, labelSelector, fieldSelector } = this.#options;
    const target = new CopyPart<T>(this.#copy, {
      onComplete: () => this.#onComplete(),
      onChanges: (changes) => this.#publish(changes),
      onProgress: () => this.#waiters.check(),
      ...(isPart ? { namespace } : {}),
    });
    return new Reflector(runtime, {
      client,
      type,
      target,
      ...(namespace === undefined ? {} : { namespace }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
      pageSize: this.#options.pageSize ?? 500,
      watchList: this.#options.watchList ?? false,
      wireFormat: this.#options.wireFormat,
      compressed: this.#options.compressed ?? true,
      onFailure: this.#options.onFailure,
    });
  }

  #lastFailure(): InformerStatus["lastFailure"] {
    const failures = this.#reflectors.flatMap(({ lastFailure }) => lastFailure ?? []);
    const [last] = failures.sort((a, b) => b.atMs - a.atMs);
    if (last === undefined) return undefined;
    return { message: last.message, agoMs: this.#clock.monotonicMs() - last.atMs };
  }

  #onComplete(): void {
    if (--this.#incomplete > 0) return;
    for (const feed of this.#feeds.keys()) feed.present(this.#copy.objects());
    this.#resolveSynced();
  }

  #publish(changes: readonly Change<T>[]): void {
    // Whoever is not told of the state yet is told of it as it will be then.
    if (!this.hasSynced) return;
    for (const feed of this.#feeds.keys()) feed.change(changes);
  }

  #scheduleResync(feed: HandlerFeed<T>): void {
    const entry = this.#feeds.get(feed);
    if (entry?.resyncMs === undefined) return;
    entry.cancelResync = this.#clock.after(entry.resyncMs, () => {
      if (feed.hasSynced) feed.resync(this.#copy.entries());
      this.#scheduleResync(feed);
    });
  }

  #report(message: string, error: unknown, about: Readonly<Record<string, unknown>>): void {
    this.#handlerErrors++;
    this.#log.error(message, { ...about, error });
  }
}

const noop = (): void => {};

/** The older of two versions; none at all is the oldest. */
function older(a: string, b: string): string {
  if (a === "" || b === "") return "";
  return (compareVersions(a, b) ?? 0) > 0 ? b : a;
}

function sumOf(a: ReflectorCounts, b: ReflectorCounts): ReflectorCounts {
  return {
    replaces: a.replaces + b.replaces,
    watches: a.watches + b.watches,
    expired: a.expired + b.expired,
    events: a.events + b.events,
    bookmarks: a.bookmarks + b.bookmarks,
    skipped: a.skipped + b.skipped,
    failures: a.failures + b.failures,
  };
}
