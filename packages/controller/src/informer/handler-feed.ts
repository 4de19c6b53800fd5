import type { Clock } from "@meridian/runtime";
import { callsOf, knownAfter, mergeChange } from "./delivery.ts";
import type { Call, Change, Pending } from "./delivery.ts";
import type { HandlerRegistration, InformerHandler } from "./informer-handler.ts";
import type { RawObject } from "./raw-object.ts";

/** Told of a handler that threw or rejected. */
export type OnHandlerError = (
  error: unknown,
  about: { readonly event: string; readonly key: string },
) => void;

/** Counts who holds an object. */
export interface ObjectHolder<T> {
  hold(object: RawObject<T>): void;
  release(object: RawObject<T>): void;
}

/** What a feed needs. */
export interface HandlerFeedOptions<T> {
  readonly clock: Pick<Clock, "after">;
  readonly objects: ObjectHolder<T>;
  readonly stopped: boolean;
  readonly onError: OnHandlerError;
  readonly onRemove: (feed: HandlerFeed<T>) => void;
}

/** A call that failed waits so long, then twice as long, and so on. */
const retryMs = 1_000;
const retryMsMax = 60_000;

/** Stands behind the initial objects in the queue: when it is reached, the handler is synced. */
const syncMark = Symbol("synced");

/** What is to be told about an object whose last call failed. */
interface Failed<T> {
  pending: Pending<T>;
  readonly failures: number;
  readonly cancel: () => void;
}

/**
 * What one handler has still to be told, in the order in which objects first changed. Changes of one object that the
 * handler was not told of yet become one, so a slow handler costs no more than one entry per object, and misses no state
 * that lasts. Calls of one handler never overlap; handlers do not wait for each other.
 */
export class HandlerFeed<T> implements HandlerRegistration {
  readonly synced: Promise<void>;
  readonly #handler: InformerHandler<T>;
  readonly #options: HandlerFeedOptions<T>;
  /** The state that was there at first, as far as the handler is still to be told of it. It comes before the queue. */
  #initial: RawObject<T>[] = [];
  #initialAt = 0;
  readonly #queue = new Map<string | typeof syncMark, Pending<T>>();
  readonly #failed = new Map<string, Failed<T>>();
  /** How often in a row calls about an object failed. */
  readonly #failures = new Map<string, number>();
  #resolveSynced: () => void = () => {};
  #hasSynced = false;
  #stopped: boolean;
  #removed = false;
  #draining: Promise<void> | undefined;

  constructor(handler: InformerHandler<T>, options: HandlerFeedOptions<T>) {
    this.#handler = handler;
    this.#options = options;
    this.#stopped = options.stopped;
    this.synced = new Promise((resolve) => (this.#resolveSynced = resolve));
  }

  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  get pending(): number {
    return this.#initial.length - this.#initialAt + this.#queue.size + this.#failed.size;
  }

  /** Queues the state that is there when the handler comes, or when the copy is complete for the first time. */
  present(objects: Iterable<RawObject<T>>): void {
    for (const object of objects) {
      this.#options.objects.hold(object);
      this.#initial.push(object);
    }
    this.#queue.set(syncMark, nothing);
    this.#drain();
  }

  change(changes: Iterable<Change<T>>): void {
    this.#queueInitial();
    for (const change of changes) {
      const failed = this.#failed.size === 0 ? undefined : this.#failed.get(change.key);
      if (failed === undefined) {
        const before = this.#queue.get(change.key);
        this.#put(change.key, mergeChange(before, change));
        if (before !== undefined) this.#release(before);
      } else {
        const { pending } = failed;
        failed.pending = mergeChange(pending, change);
        this.#hold(failed.pending);
        this.#release(pending);
      }
    }
    this.#drain();
  }

  /** Queues every object as it is; those with something pending are told of that instead. */
  resync(objects: Iterable<[string, RawObject<T>]>): void {
    this.#queueInitial();
    for (const [key, object] of objects) {
      if (this.#queue.has(key) || this.#failed.has(key)) continue;
      this.#put(key, { before: object, after: object, final: undefined, initial: false, resync: true });
    }
    this.#drain();
  }

  remove(): void {
    if (this.#removed) return;
    this.#removed = true;
    this.#queueInitial();
    this.#requeueFailed();
    for (const pending of this.#queue.values()) this.#release(pending);
    this.#queue.clear();
    this.#options.onRemove(this);
  }

  /** No call starts any more until `resume`; resolves when the one that is running has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#draining;
    this.#requeueFailed();
  }

  resume(): void {
    this.#stopped = false;
    this.#drain();
  }

  #drain(): void {
    if (this.#stopped || this.#removed || this.#draining !== undefined || this.#queue.size === 0) return;
    this.#draining = this.#deliver().finally(() => {
      this.#draining = undefined;
      this.#drain();
    });
  }

  /** Never rejects. */
  async #deliver(): Promise<void> {
    // Whoever changed the copy, or added the handler, finishes first.
    await Promise.resolve();
    while (this.#initialAt < this.#initial.length) {
      if (this.#stopped || this.#removed) return;
      const adding = this.#addInitial(this.#initial[this.#initialAt++] as RawObject<T>);
      if (adding !== undefined) await adding;
    }
    this.#initial = [];
    this.#initialAt = 0;
    // Map iteration also visits what is added while it runs.
    for (const [key, pending] of this.#queue) {
      if (this.#stopped || this.#removed) return;
      this.#queue.delete(key);
      if (key === syncMark) {
        this.#hasSynced = true;
        this.#resolveSynced();
        continue;
      }
      let known = pending.before;
      for (const call of callsOf(pending)) {
        try {
          const running = this.#call(key, call);
          if (running !== undefined) await running;
        } catch (error) {
          const left = known === pending.before ? pending : { ...pending, before: known, final: undefined };
          this.#onFailure(error, call, left);
          break;
        }
        if (this.#failures.size > 0) this.#failures.delete(key);
        known = knownAfter(call);
        if (this.#removed) break;
      }
      this.#release(pending);
    }
  }

  /** The same for an object of the initial state, of which there may be many. A promise only if the handler waits. */
  #addInitial(object: RawObject<T>): Promise<void> | undefined {
    const call = { event: "add", object, initial: true } as const;
    try {
      const running = this.#call(object.key, call);
      if (running !== undefined) {
        return running
          .catch((error: unknown) => this.#onFailure(error, call, initialPending(object)))
          .then(() => this.#options.objects.release(object));
      }
    } catch (error) {
      this.#onFailure(error, call, initialPending(object));
    }
    this.#options.objects.release(object);
    return undefined;
  }

  #onFailure(error: unknown, call: Call<T>, left: Pending<T>): void {
    const { key } = call.object;
    this.#options.onError(error, { event: call.event, key });
    this.#retryLater(key, left);
  }

  /** Puts what is left of the initial state into the queue, where changes are merged with it. */
  #queueInitial(): void {
    if (this.#initialAt === this.#initial.length) return;
    this.#queue.delete(syncMark);
    for (const object of this.#initial.slice(this.#initialAt)) {
      this.#queue.set(object.key, initialPending(object));
    }
    this.#initial = [];
    this.#initialAt = 0;
    this.#queue.set(syncMark, nothing);
  }

  /** The handler still knows what it knew. Whatever happened to the object while it failed is in the queue. */
  #retryLater(key: string, pending: Pending<T>): void {
    if (this.#removed) return;
    const newer = this.#queue.get(key);
    this.#queue.delete(key);
    const rest = newer === undefined ? pending : { ...mergeChange(pending, newer), resync: false };
    this.#hold(rest);
    if (newer !== undefined) this.#release(newer);
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    const waitMs = Math.min(retryMs * 2 ** (failures - 1), retryMsMax);
    const cancel = this.#options.clock.after(waitMs, () => {
      this.#requeue(key);
      this.#drain();
    });
    this.#failed.set(key, { pending: rest, failures, cancel });
  }

  #requeue(key: string): void {
    const failed = this.#failed.get(key);
    if (failed === undefined) return;
    this.#failed.delete(key);
    this.#queue.set(key, failed.pending);
  }

  /** A feed that is stopped leaves no timer. */
  #requeueFailed(): void {
    for (const [key, { cancel }] of this.#failed) {
      cancel();
      this.#requeue(key);
    }
  }

  #put(key: string, pending: Pending<T>): void {
    this.#hold(pending);
    this.#queue.set(key, pending);
  }

  #hold({ before, after, final }: Pending<T>): void {
    const { objects } = this.#options;
    if (before !== undefined) objects.hold(before);
    if (after !== undefined) objects.hold(after);
    if (final !== undefined) objects.hold(final);
  }

  #release({ before, after, final }: Pending<T>): void {
    const { objects } = this.#options;
    if (before !== undefined) objects.release(before);
    if (after !== undefined) objects.release(after);
    if (final !== undefined) objects.release(final);
  }

  #call(key: string, call: Call<T>): void | Promise<void> {
    const handler = this.#handler;
    if (handler.onKey === undefined) return this.#tell(call);
    const { event } = call;
    const running = handler.onKey({
      key,
      event,
      initial: event === "add" && call.initial,
      resync: event === "update" && call.resync,
      missed: event === "delete" && call.missed,
    });
    return running === undefined ? this.#tell(call) : running.then(() => this.#tell(call));
  }

  /** Decodes for those methods only that the handler has. Who is told of a new state may look it up next. */
  #tell(call: Call<T>): void | Promise<void> {
    const handler = this.#handler;
    switch (call.event) {
      case "add": {
        const { object, initial } = call;
        return handler.onAdd?.(initial ? object.decodeOnce() : object.decode(), { initial });
      }
      case "update":
        return handler.onUpdate?.(call.old.decodeOnce(), call.object.decode(), { resync: call.resync });
      case "delete":
        return handler.onDelete?.(call.object.decodeOnce(), { missed: call.missed });
    }
  }
}

function initialPending<T>(after: RawObject<T>): Pending<T> {
  return { before: undefined, after, final: undefined, initial: true, resync: false };
}

const nothing: Pending<never> = {
  before: undefined,
  after: undefined,
  final: undefined,
  initial: true,
  resync: false,
};
