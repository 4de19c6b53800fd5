import type { KubeObject } from "@meridian/kube";

/**
 * What one reader of the copy wants to be told. Calls come one after another, a returned promise is awaited before the
 * next, and the copy is already at (or past) the state that a call tells of. Changes that follow each other faster than the
 * handler takes them are told as one. An error is reported and costs that call only.
 */
export interface InformerHandler<T extends KubeObject = KubeObject> {
  /** `initial`: the object was there before this handler was synced. */
  onAdd?(object: T, about: { readonly initial: boolean }): void | Promise<void>;
  /** `resync`: nothing has changed, and the handler asked to be told again from time to time. */
  onUpdate?(old: T, object: T, about: { readonly resync: boolean }): void | Promise<void>;
  /** `missed`: the deletion itself was not seen, so `object` is only the last state known. */
  onDelete?(object: T, about: { readonly missed: boolean }): void | Promise<void>;
}

/** A handler that was added. */
export interface HandlerRegistration {
  /** True when everything that was there at the start has been delivered to this handler. */
  readonly hasSynced: boolean;
  /** Resolves when `hasSynced` becomes true; stays pending if it never does. */
  readonly synced: Promise<void>;
  /** No call starts after it. */
  remove(): void;
}

/** The owner's key as an `enqueue` takes it. */
export interface KeyQueue {
  enqueue(key: string): void;
}

/**
 * A handler that enqueues keys for each object that comes, changes or goes: those of its old state and those of its new
 * one, so that whoever lost the object is told as well as whoever got it.
 */
export function enqueueKeys<T extends KubeObject>(
  queue: KeyQueue,
  keysOf: (object: T) => Iterable<string>,
): InformerHandler<T> {
  const enqueue = (...objects: readonly T[]): void => {
    for (const key of new Set(objects.flatMap((object) => [...keysOf(object)]))) queue.enqueue(key);
  };
  return {
    onAdd: (object) => enqueue(object),
    onUpdate: (old, object) => enqueue(old, object),
    onDelete: (object) => enqueue(object),
  };
}
