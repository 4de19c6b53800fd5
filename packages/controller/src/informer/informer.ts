import { freeze, objectKey } from "@meridian/kube";
import type { KubeObject, ResourceType } from "@meridian/kube";
import type { Clock, Logger, Random } from "@meridian/runtime";
import type { KubeClient } from "../client/kube-client.ts";
import { describeTarget } from "../client/resource-path.ts";
import { ControllerError } from "../controller-error.ts";
import { Reflector } from "../reflector/reflector.ts";
import type { ReflectorCounts } from "../reflector/reflector.ts";
import type { Change } from "./delivery.ts";
import { HandlerFeed } from "./handler-feed.ts";
import type { HandlerRegistration, InformerHandler } from "./informer-handler.ts";
import type { IndexFunction, Lister } from "./lister.ts";
import { ObjectStore } from "./object-store.ts";

/** What an informer needs of the world. */
export interface InformerRuntime {
  readonly clock: Pick<Clock, "monotonicMs" | "after" | "sleep">;
  readonly random: Pick<Random, "float">;
  readonly log: Logger;
}

/** What to copy, and how. */
export interface InformerOptions<T extends KubeObject = KubeObject> {
  readonly client: Pick<KubeClient, "list" | "watch">;
  readonly type: ResourceType;
  /** Absent: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Changes an object before it is stored, to save memory. Must keep name, namespace, uid and resourceVersion. */
  readonly transform?: (object: T) => T;
  /** Tells each handler of each object again this often. Default: never; a handler may have a period of its own. */
  readonly resyncMs?: number;
  /** Objects per page of a list. Default 500. */
  readonly pageSize?: number;
  /** Takes the initial state as a stream where the server offers it, else as a list. Default false. */
  readonly watchList?: boolean;
}

/** How an informer is doing, for health checks and for people. */
export interface InformerStatus extends ReflectorCounts {
  readonly objects: number;
  readonly version: string;
  readonly connected: boolean;
  readonly hasSynced: boolean;
  readonly lagMs: number;
  /** Errors of handlers, transforms and index functions. */
  readonly handlerErrors: number;
}

/**
 * A copy of a collection that follows its server, shared by any number of readers.
 *
 * The copy at version r is the collection at version r. When the stream breaks it is resumed without a gap; when the
 * history is gone everything is taken again, and only what differs is told to the handlers. Objects are frozen.
 *
 *     const services = new Informer<Service>(runtime, { client, type: serviceType });
 *     services.addHandler(enqueueKeys(controller, (service) => [objectKey(service.metadata)]));
 *     const running = services.run(signal);
 *     await services.synced;
 *     services.lister.list("default");
 */
export class Informer<T extends KubeObject = KubeObject> {
  readonly type: ResourceType;
  readonly lister: Lister<T>;
  /** Resolves when the copy is complete for the first time; stays pending if it never is. */
  readonly synced: Promise<void>;
  readonly #clock: InformerRuntime["clock"];
  readonly #log: Logger;
  readonly #options: InformerOptions<T>;
  readonly #reflector: Reflector<T>;
  readonly #store: ObjectStore<T>;
  readonly #feeds = new Map<
    HandlerFeed<T>,
    { readonly resyncMs: number | undefined; cancelResync: () => void }
  >();
  #resolveSynced: () => void = () => {};
  #hasSynced = false;
  #running = false;
  #handlerErrors = 0;

  constructor(runtime: InformerRuntime, options: InformerOptions<T>) {
    this.type = options.type;
    this.#clock = runtime.clock;
    this.#log = runtime.log.child({
      informer: describeTarget(options.type, { namespace: options.namespace }),
    });
    this.#options = options;
    this.#store = new ObjectStore((error, about) => this.#report("index function failed", error, about));
    this.lister = this.#store;
    this.synced = new Promise((resolve) => (this.#resolveSynced = resolve));
    this.#reflector = new Reflector<T>(runtime, {
      ...options,
      pageSize: options.pageSize ?? 500,
      watchList: options.watchList ?? false,
      target: {
        replace: (objects) => this.#replace(objects),
        apply: (type, object) => this.#apply(type, object),
        versionOf: (key) => this.#store.get(key)?.metadata.resourceVersion,
      },
    });
  }

  /** True once the copy has been complete. It stays true while the server is away: see `connected` and `lagMs`. */
  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** The resourceVersion that the copy is complete up to; empty before the first time. */
  get version(): string {
    return this.#reflector.version;
  }

  /** Whether a watch is open now. */
  get connected(): boolean {
    return this.#reflector.connected;
  }

  /** How often the whole collection was taken again after the first time. */
  get relists(): number {
    return Math.max(0, this.#reflector.counts.replaces - 1);
  }

  /**
   * Milliseconds since the server last said anything about this collection: an upper bound of how far the copy may be
   * behind. Servers send a bookmark about once a minute. Infinity before the first word.
   */
  lagMs(): number {
    return this.#reflector.silentMs();
  }

  get status(): InformerStatus {
    return {
      ...this.#reflector.counts,
      objects: this.#store.size,
      version: this.version,
      connected: this.connected,
      hasSynced: this.#hasSynced,
      lagMs: this.lagMs(),
      handlerErrors: this.#handlerErrors,
    };
  }

  /**
   * Adds a handler at any time. It is first told of everything that is in the copy, then of each change, with nothing lost
   * or doubled between. No call happens before this method has returned.
   */
  addHandler(handler: InformerHandler<T>, options: { readonly resyncMs?: number } = {}): HandlerRegistration {
    const feed = new HandlerFeed<T>(handler, {
      stopped: !this.#running,
      onError: (error, about) => this.#report("handler failed", error, about),
      onRemove: (removed) => {
        this.#feeds.get(removed)?.cancelResync();
        this.#feeds.delete(removed);
      },
    });
    this.#feeds.set(feed, { resyncMs: options.resyncMs ?? this.#options.resyncMs, cancelResync: noop });
    if (this.#running) this.#scheduleResync(feed);
    if (this.#hasSynced) feed.present(this.#store.entries());
    return feed;
  }

  /** Adds an index over all objects, present and future. @throws ControllerError `IndexConflict` */
  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    this.#store.addIndex(name, valuesOf);
  }

  /**
   * Follows the server until the signal aborts, then resolves; no handler is called after that. The copy stays readable,
   * and another `run` goes on from it.
   *
   * @throws ControllerError `AlreadyRunning`
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
    try {
      await this.#reflector.run(signal);
    } finally {
      this.#running = false;
      for (const entry of this.#feeds.values()) entry.cancelResync();
      await Promise.all(Array.from(this.#feeds.keys(), (feed) => feed.stop()));
    }
  }

  /** Takes a complete state. What is as it was stays the same object, and no handler hears of it. */
  #replace(objects: ReadonlyMap<string, T>): void {
    const changes: Change<T>[] = [];
    for (const [key, before] of this.#store.entries()) {
      if (objects.has(key)) continue;
      this.#store.delete(key);
      changes.push({ key, before, after: undefined });
    }
    for (const [key, object] of objects) {
      const before = this.#store.get(key);
      if (before !== undefined && isSameState(before, object)) continue;
      changes.push({ key, before, after: this.#put(key, object) });
    }

    if (this.#hasSynced) {
      for (const feed of this.#feeds.keys()) feed.change(changes);
      return;
    }
    this.#hasSynced = true;
    for (const feed of this.#feeds.keys()) feed.present(this.#store.entries());
    this.#resolveSynced();
  }

  #apply(type: "ADDED" | "MODIFIED" | "DELETED", object: T): void {
    const key = objectKey(object.metadata);
    const before = this.#store.get(key);
    if (type === "DELETED") {
      if (before === undefined) return;
      this.#store.delete(key);
      this.#publish({ key, before, after: undefined, final: this.#shaped(key, object) });
    } else if (before === undefined || !isSameState(before, object)) {
      this.#publish({ key, before, after: this.#put(key, object) });
    }
  }

  #publish(change: Change<T>): void {
    for (const feed of this.#feeds.keys()) feed.change([change]);
  }

  #put(key: string, object: T): T {
    const shaped = this.#shaped(key, object);
    this.#store.put(key, shaped);
    return shaped;
  }

  /** The object as it is handed out. Where the transform fails, it is stored whole: a gap in the copy would be worse. */
  #shaped(key: string, object: T): T {
    const { transform } = this.#options;
    if (transform === undefined) return freeze(object);
    try {
      const shaped = transform(object);
      if (objectKey(shaped.metadata) === key && isSameState(shaped, object)) return freeze(shaped);
      throw new Error("the transform changed name, namespace, uid or resourceVersion");
    } catch (error) {
      this.#report("transform failed", error, { key });
      return freeze(object);
    }
  }

  #scheduleResync(feed: HandlerFeed<T>): void {
    const entry = this.#feeds.get(feed);
    if (entry?.resyncMs === undefined) return;
    entry.cancelResync = this.#clock.after(entry.resyncMs, () => {
      if (feed.hasSynced) feed.resync(this.#store.entries());
      this.#scheduleResync(feed);
    });
  }

  #report(message: string, error: unknown, about: Readonly<Record<string, unknown>>): void {
    this.#handlerErrors++;
    this.#log.error(message, { ...about, error });
  }
}

const noop = (): void => {};

/** True for two readings of the same state of the same object. */
function isSameState(a: KubeObject, b: KubeObject): boolean {
  const version = a.metadata.resourceVersion;
  return version !== undefined && version === b.metadata.resourceVersion && a.metadata.uid === b.metadata.uid;
}
