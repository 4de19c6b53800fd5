import type { KubeObject } from "@meridian/kube";
import { callsOf, mergeChange } from "./delivery.ts";
import type { Call, Change, Pending } from "./delivery.ts";
import type { HandlerRegistration, InformerHandler } from "./informer-handler.ts";

/** Told of a handler that threw or rejected. */
export type OnHandlerError = (
  error: unknown,
  about: { readonly event: string; readonly key: string },
) => void;

/** Stands behind the initial objects in the queue: when it is reached, the handler is synced. */
const syncMark = Symbol("synced");

/**
 * What one handler has still to be told, in the order in which objects first changed. Changes of one object that the
 * handler was not told of yet become one, so a slow handler costs no more than one entry per object, and misses no state
 * that lasts. Calls of one handler never overlap; handlers do not wait for each other.
 */
export class HandlerFeed<T extends KubeObject> implements HandlerRegistration {
  readonly synced: Promise<void>;
  readonly #handler: InformerHandler<T>;
  readonly #onError: OnHandlerError;
  readonly #onRemove: (feed: HandlerFeed<T>) => void;
  readonly #pending = new Map<string | typeof syncMark, Pending<T>>();
  #resolveSynced: () => void = () => {};
  #hasSynced = false;
  #stopped: boolean;
  #removed = false;
  #draining: Promise<void> | undefined;

  constructor(
    handler: InformerHandler<T>,
    options: {
      readonly stopped: boolean;
      readonly onError: OnHandlerError;
      readonly onRemove: (feed: HandlerFeed<T>) => void;
    },
  ) {
    this.#handler = handler;
    this.#stopped = options.stopped;
    this.#onError = options.onError;
    this.#onRemove = options.onRemove;
    this.synced = new Promise((resolve) => (this.#resolveSynced = resolve));
  }

  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** Queues the state that is there when the handler comes, or when the copy is complete for the first time. */
  present(objects: Iterable<[string, T]>): void {
    for (const [key, after] of objects) {
      this.#pending.set(key, { before: undefined, after, final: undefined, initial: true, resync: false });
    }
    this.#pending.set(syncMark, {
      before: undefined,
      after: undefined,
      final: undefined,
      initial: true,
      resync: false,
    });
    this.#drain();
  }

  change(changes: Iterable<Change<T>>): void {
    for (const change of changes)
      this.#pending.set(change.key, mergeChange(this.#pending.get(change.key), change));
    this.#drain();
  }

  /** Queues every object as it is; those with something pending are told of that instead. */
  resync(objects: Iterable<[string, T]>): void {
    for (const [key, object] of objects) {
      if (this.#pending.has(key)) continue;
      this.#pending.set(key, {
        before: object,
        after: object,
        final: undefined,
        initial: false,
        resync: true,
      });
    }
    this.#drain();
  }

  remove(): void {
    if (this.#removed) return;
    this.#removed = true;
    this.#pending.clear();
    this.#onRemove(this);
  }

  /** No call starts any more until `resume`; resolves when the one that is running has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#draining;
  }

  resume(): void {
    this.#stopped = false;
    this.#drain();
  }

  #drain(): void {
    if (this.#stopped || this.#removed || this.#draining !== undefined || this.#pending.size === 0) return;
    this.#draining = this.#deliver().finally(() => {
      this.#draining = undefined;
      this.#drain();
    });
  }

  /** Never rejects. Map iteration also visits what is added while it runs. */
  async #deliver(): Promise<void> {
    // Whoever changed the copy, or added the handler, finishes first.
    await Promise.resolve();
    for (const [key, pending] of this.#pending) {
      if (this.#stopped || this.#removed) return;
      this.#pending.delete(key);
      if (key === syncMark) {
        this.#hasSynced = true;
        this.#resolveSynced();
        continue;
      }
      for (const call of callsOf(pending)) {
        try {
          const running = this.#call(call);
          if (running !== undefined) await running;
        } catch (error) {
          this.#onError(error, { event: call.event, key });
        }
        if (this.#removed) return;
      }
    }
  }

  #call(call: Call<T>): void | Promise<void> {
    switch (call.event) {
      case "add":
        return this.#handler.onAdd?.(call.object, { initial: call.initial });
      case "update":
        return this.#handler.onUpdate?.(call.old, call.object, { resync: call.resync });
      case "delete":
        return this.#handler.onDelete?.(call.object, { missed: call.missed });
    }
  }
}
