import type { KubeObject } from "@meridian/kube";

/** A change by its key, for those who need no more: nothing is decoded for it. */
export interface KeyChange {
  readonly key: string;
  readonly event: "add" | "update" | "delete";
  /** The object was there before this handler was synced. */
  readonly initial: boolean;
  /** Nothing has changed: the handler asked to be told again from time to time. */
  readonly resync: boolean;
  /** The deletion itself was not seen. */
  readonly missed: boolean;
}

/**
 * What one reader of the copy wants to be told. Calls come one after another, a returned promise is awaited before the
 * next, and the copy is already at (or past) the state that a call tells of. Changes that follow each other faster than the
 * handler takes them are told as one. A call that throws or rejects is reported, and made again after a wait, with
 * whatever has changed meanwhile; other objects do not wait for it.
 */
export interface InformerHandler<T = KubeObject> {
  /** `initial`: the object was there before this handler was synced. */
  onAdd?(object: T, about: { readonly initial: boolean }): void | Promise<void>;
  /** `resync`: nothing has changed, and the handler asked to be told again from time to time. */
  onUpdate?(old: T, object: T, about: { readonly resync: boolean }): void | Promise<void>;
  /** `missed`: the deletion itself was not seen, so `object` is only the last state known. */
  onDelete?(object: T, about: { readonly missed: boolean }): void | Promise<void>;
  /** Called for each of the above, before it. */
  onKey?(change: KeyChange): void | Promise<void>;
}

/** A handler that was added. */
export interface HandlerRegistration {
  /** True when everything that was there at the start has been delivered to this handler. */
  readonly hasSynced: boolean;
  /** Resolves when `hasSynced` becomes true; stays pending if it never does. */
  readonly synced: Promise<void>;
  /** Objects that the handler is still to be told of, those included that wait since a call failed. */
  readonly pending: number;
  /** No call starts after it. */
  remove(): void;
}

/** Takes keys to work on; `priority` is 0 where it is left out, and the higher goes first. */
export interface KeyQueue {
  enqueue(key: string, options?: { readonly priority?: number }): void;
}

/** What was there before, and what has not changed, can wait: a start or a resync must not delay news. */
const noNewsPriority: number = -100;

/**
 * A handler that enqueues keys for each object that comes, changes or goes: those of its old state and those of its new
 * one, so that whoever lost the object is told as well as whoever got it. Without `keysOf` it enqueues the key of the
 * object itself, and decodes nothing. What is no news (`initial`, `resync`) has a priority of -100.
 */
export function enqueueKeys<T>(
  queue: KeyQueue,
  keysOf?: (object: T) => Iterable<string>,
): InformerHandler<T> {
  if (keysOf === undefined) {
    return { onKey: ({ key, initial, resync }) => queue.enqueue(key, urgency(initial || resync)) };
  }
  const enqueue = (objects: readonly T[], isNoNews: boolean): void => {
    for (const key of new Set(objects.flatMap((object) => [...keysOf(object)])))
      queue.enqueue(key, urgency(isNoNews));
  };
  return {
    onAdd: (object, { initial }) => enqueue([object], initial),
    onUpdate: (old, object, { resync }) => enqueue([old, object], resync),
    onDelete: (object) => enqueue([object], false),
  };
}

function urgency(isNoNews: boolean): { readonly priority?: number } {
  return isNoNews ? { priority: noNewsPriority } : {};
}
