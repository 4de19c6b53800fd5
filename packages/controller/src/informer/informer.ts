import type { KubeObject, ResourceType } from "@meridian/kube";
import type { Runtime } from "@meridian/runtime";
import type { KubeClient } from "../client/kube-client.ts";
import type { IndexFunction, Lister } from "./lister.ts";

/** Callbacks of one reader of the copy. A promise is awaited before the next call; an error is reported, not passed on. */
export interface InformerHandler<T extends KubeObject = KubeObject> {
  /** `initial`: the object was there before the handler was synced. */
  onAdd?(object: T, about: { readonly initial: boolean }): void | Promise<void>;
  /** `resync`: nothing changed, the handler asked to be told again. */
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

/** What to copy, and how. */
export interface InformerOptions<T extends KubeObject = KubeObject> {
  readonly client: KubeClient;
  readonly type: ResourceType;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Changes an object before it is stored, to save memory. Must keep name, namespace, uid and resourceVersion. */
  readonly transform?: (object: T) => T;
  /** Tells every handler of every object again this often. Default: never. */
  readonly resyncMs?: number;
  /** Objects per page of a list. Default 500. */
  readonly pageSize?: number;
  /** Takes the initial state as a stream where the server offers it. Default false. */
  readonly watchList?: boolean;
}

/** Keeps a copy of a collection and tells handlers what changes in it. */
export class Informer<T extends KubeObject = KubeObject> {
  readonly type: ResourceType;
  readonly lister: Lister<T>;
  /** Resolves when the copy is complete for the first time; stays pending if it never is. */
  readonly synced: Promise<void>;

  constructor(_runtime: Pick<Runtime, "clock" | "random" | "log">, _options: InformerOptions<T>) {
    throw new Error("unbuilt");
  }
  addHandler(_handler: InformerHandler<T>, _options?: { readonly resyncMs?: number }): HandlerRegistration {
    throw new Error("unbuilt");
  }
  addIndex(_name: string, _valuesOf: IndexFunction<T>): void {}
  /** Follows the server until the signal aborts, then resolves. */
  async run(_signal: AbortSignal): Promise<void> {}
  get hasSynced(): boolean {
    return false;
  }
  /** The resourceVersion that the copy is complete up to; empty before the first sync. */
  get version(): string {
    return "";
  }
  /** Whether a watch is open now. */
  get connected(): boolean {
    return false;
  }
  /** How often the whole collection was taken again after the first time. */
  get relists(): number {
    return 0;
  }
  /** Milliseconds since the server last said anything about this collection; Infinity before it ever did. */
  lagMs(): number {
    return Number.POSITIVE_INFINITY;
  }
}
