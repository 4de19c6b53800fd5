import { setMaxListeners } from "node:events";
import type { KubeObject, ResourceType } from "@meridian/kube";
import { deadlineSignal } from "../deadline-signal.ts";
import type { CollectionClient } from "../reflector/reflector-options.ts";
import { Informer } from "./informer.ts";
import type { InformerOptions, InformerRuntime, InformerSelection } from "./informer.ts";

/** What all informers of a factory have in common. */
export interface InformerFactoryOptions extends Pick<
  InformerOptions,
  "resyncMs" | "pageSize" | "watchList" | "wireFormat" | "compressed" | "onFailure"
> {
  readonly client: CollectionClient;
  /** Where nothing else is asked for. Absent: all namespaces. */
  readonly namespace?: string;
  /** Applied to every object of every type: `dropManagedFields`, for example. */
  readonly transform?: <T extends KubeObject>(object: T) => T;
}

/**
 * One informer per resource and selection, shared by all who ask for it: a copy in memory and a watch on the server, and
 * not one of each per controller.
 *
 *     const informers = new InformerFactory(runtime, { client, transform: dropManagedFields });
 *     const services = informers.informer<Service>(serviceType);
 *     const running = informers.run(signal);
 *     await informers.synced();
 */
export class InformerFactory {
  readonly #runtime: InformerRuntime;
  readonly #options: InformerFactoryOptions;
  readonly #informers = new Map<string, Informer<KubeObject>>();
  /** Starts an informer that is asked for while the factory runs. */
  #start: ((informer: Informer<KubeObject>) => void) | undefined;

  constructor(runtime: InformerRuntime, options: InformerFactoryOptions) {
    this.#runtime = runtime;
    this.#options = options;
  }

  /** All informers that were asked for. */
  get informers(): readonly Informer<KubeObject>[] {
    return [...this.#informers.values()];
  }

  /** The informer of this selection; it runs when the factory does, also if that is asked for later. */
  informer<T extends KubeObject = KubeObject>(
    type: ResourceType<T>,
    selection: InformerSelection = {},
  ): Informer<T> {
    const place = { ...this.#namespace(selection), ...selection };
    const key = keyOf(type, place);
    const known = this.#informers.get(key);
    if (known !== undefined) return known as unknown as Informer<T>;
    const { namespace: _, ...shared } = this.#options;
    const informer = new Informer<T>(this.#runtime, { ...shared, ...place, type });
    this.#informers.set(key, informer as unknown as Informer<KubeObject>);
    this.#start?.(informer as unknown as Informer<KubeObject>);
    return informer;
  }

  /** Resolves when all copies that were asked for up to now are complete. */
  async synced(): Promise<void> {
    await Promise.all(this.informers.map((informer) => informer.synced));
  }

  /**
   * Runs all informers, those to come included, until the signal aborts, and resolves when the last has ended. To be
   * called once at a time.
   *
   * @throws the failure at which `onFailure` of the options says `stop`; the others are stopped then
   */
  async run(signal: AbortSignal): Promise<void> {
    using bounds = deadlineSignal(this.#runtime.clock, { signal });
    setMaxListeners(0, bounds.signal); // one for each informer is what it is for, not a leak to warn of
    const running = new Set<Promise<void>>();
    let failure: { readonly error: unknown } | undefined;
    const ended = new Promise<void>((resolve) => {
      if (bounds.signal.aborted) resolve();
      else bounds.signal.addEventListener("abort", () => resolve(), { once: true });
    });
    this.#start = (informer) => {
      const run = informer.run(bounds.signal).catch((error: unknown) => {
        failure ??= { error };
        bounds.abort(error);
      });
      running.add(run);
      void run.finally(() => running.delete(run));
    };
    for (const informer of this.#informers.values()) this.#start(informer);
    try {
      await ended;
    } finally {
      this.#start = undefined;
      await Promise.all(running);
    }
    if (failure !== undefined) throw failure.error;
  }

  #namespace(selection: InformerSelection): { readonly namespace?: string } {
    const { namespace } = this.#options;
    return namespace === undefined || selection.namespaces !== undefined ? {} : { namespace };
  }
}

/** The same for what selects the same, in whatever order it is written. */
function keyOf(type: ResourceType, selection: InformerSelection): string {
  const { namespace, namespaces = [namespace ?? null], labelSelector = "", fieldSelector = "" } = selection;
  const places = [...new Set(namespaces)].sort();
  return JSON.stringify([type.group, type.version, type.plural, places, labelSelector, fieldSelector]);
}
