import type { KubeObject } from "@meridian/kube";
import type { ServiceRef } from "../decide/gslb-snapshot.ts";
import type { ReferenceKind } from "../references/reference-kinds.ts";
import { leadsTo, type ReferenceTarget } from "../references/reference-target.ts";

interface Entry {
  readonly target: ReferenceTarget;
  readonly services: readonly string[];
}

/** Which Gslbs an object concerns, so that a change wakes those and no others. */
export class ReferenceIndex {
  readonly #entries = new Map<string, Entry>();
  readonly #byService = new Map<string, Set<string>>();
  readonly #byObject = new Map<string, Set<string>>();
  /** Gslbs with a selector, by the namespace that it looks in. */
  readonly #bySelector = new Map<string, Set<string>>();

  set(key: string, target: ReferenceTarget, services: readonly ServiceRef[]): void {
    this.remove(key);
    const entry = { target, services: services.map(({ namespace, name }) => `${namespace}/${name}`) };
    this.#entries.set(key, entry);
    for (const [map, value] of this.#places(entry)) map.set(value, (map.get(value) ?? new Set()).add(key));
  }

  remove(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    for (const [map, value] of this.#places(entry)) {
      const keys = map.get(value);
      keys?.delete(key);
      if (keys?.size === 0) map.delete(value);
    }
  }

  /** Gslbs whose hosts are served by a Service. */
  ofService(serviceKey: string): Iterable<string> {
    return this.#byService.get(serviceKey) ?? [];
  }

  /** Gslbs whose reference leads to an object. */
  ofObject(kind: ReferenceKind, object: KubeObject): readonly string[] {
    const { namespace = "", name = "" } = object.metadata;
    const named = this.#byObject.get(`${kind.kind} ${namespace}/${name}`) ?? [];
    const selecting = [...(this.#bySelector.get(namespace) ?? [])].filter((key) =>
      leadsTo(this.#entries.get(key)!.target, kind, object),
    );
    return [...named, ...selecting];
  }

  *#places(entry: Entry): IterableIterator<[Map<string, Set<string>>, string]> {
    for (const service of entry.services) yield [this.#byService, service];
    const { target } = entry;
    if (target.by === "selector") yield [this.#bySelector, target.namespace];
    else if (target.by !== "nothing") yield [this.#byObject, `${target.kind.kind} ${target.key}`];
  }
}
