import { objectKey } from "@meridian/kube";
import type { KubeObject } from "@meridian/kube";
import type { Informer } from "../informer/informer.ts";
import { enqueueKeys } from "../informer/informer-handler.ts";
import type { HandlerRegistration, InformerHandler, KeyQueue } from "../informer/informer-handler.ts";
import { ownerKeys } from "./owner-keys.ts";
import type { OwnerOptions } from "./owner-keys.ts";
import type { Predicate } from "./predicate.ts";

/** What wakes a controller: changes of the objects in a copy. Made by `watchObjects`, `watchOwned` and `watchMapped`. */
export interface Source {
  /** Whom it reads; several sources may share one. */
  readonly informer: SourceInformer;
  /** Begins to enqueue keys: those of what is there first. */
  attach(queue: KeyQueue): HandlerRegistration;
  /** The object of a key, where keys are those of the objects themselves. */
  objectOf?(key: string): KubeObject | undefined;
}

/** What of an informer everybody may know, whatever its objects are. */
export type SourceInformer = Pick<
  Informer,
  "type" | "run" | "synced" | "hasSynced" | "connected" | "lagMs" | "version" | "status"
>;

/** Which changes count. Default: all. */
export interface SourceOptions<T> {
  readonly predicate?: Predicate<T>;
}

/** Wakes for the objects themselves, which are what the controller is about. */
export function watchObjects<T extends KubeObject>(
  informer: Informer<T>,
  { predicate }: SourceOptions<T> = {},
): Source {
  return {
    informer,
    attach: (queue) =>
      informer.addHandler(
        predicate === undefined
          ? enqueueKeys(queue)
          : filtered(
              enqueueKeys<T>(queue, ({ metadata }) => [objectKey(metadata)]),
              predicate,
            ),
      ),
    objectOf: (key) => informer.lister.get(key),
  };
}

/** Wakes for the owners of objects: the old and the new one, where an object changes hands. */
export function watchOwned<T extends KubeObject>(
  informer: Informer<T>,
  options: SourceOptions<T> & OwnerOptions,
): Source {
  return watchMapped(informer, { ...options, keysOf: (object) => ownerKeys(object, options) });
}

/** Wakes for the keys that a function yields for an object: for those of its old state and for those of its new one. */
export function watchMapped<T extends KubeObject>(
  informer: Informer<T>,
  { predicate, keysOf }: SourceOptions<T> & { readonly keysOf: (object: T) => Iterable<string> },
): Source {
  return {
    informer,
    attach: (queue) => {
      const handler = enqueueKeys(queue, keysOf);
      return informer.addHandler(predicate === undefined ? handler : filtered(handler, predicate));
    },
  };
}

function filtered<T>(handler: InformerHandler<T>, predicate: Predicate<T>): InformerHandler<T> {
  return {
    onAdd: (object, about) =>
      predicate.onAdd?.(object, about) === false ? undefined : handler.onAdd?.(object, about),
    onUpdate: (old, object, about) =>
      predicate.onUpdate?.(old, object, about) === false ? undefined : handler.onUpdate?.(old, object, about),
    onDelete: (object, about) =>
      predicate.onDelete?.(object, about) === false ? undefined : handler.onDelete?.(object, about),
  };
}
