import {
  deepEqual,
  formatLabelSelector,
  matchesLabels,
  objectKey,
  type KubeObject,
  type LabelSelector,
} from "@meridian/kube";
import type { ServiceRef } from "../decide/gslb-snapshot.ts";
import {
  readObject,
  readSlices,
  readSpec,
  type RecordedReads,
  type Selection,
} from "../references/reference-source.ts";
import { kindName, type ObjectKind } from "../resources/object-kind.ts";

interface Selecting {
  readonly selector: LabelSelector;
  readonly keys: Set<string>;
}

interface Entry {
  readonly services: readonly string[];
  readonly objects: readonly string[];
  readonly kinds: readonly string[];
  readonly selections: readonly Selection[];
}

type SpecOf = (KubeObject & { readonly spec?: unknown }) | undefined;

/** A change of one object: how it was and how it is, where it was and is there. */
export interface ObjectChange {
  readonly old?: KubeObject;
  readonly now?: KubeObject;
  /** Both say the same to whoever has found the object; only its labels may differ. */
  readonly isSame: boolean;
}

/** Which Gslbs an object concerns, so that a change wakes those and no others: those that looked for it. */
export class ReferenceIndex {
  readonly #entries = new Map<string, Entry>();
  readonly #byService = new Map<string, Set<string>>();
  readonly #byObject = new Map<string, Set<string>>();
  readonly #byKind = new Map<string, Set<string>>();
  /** By kind and namespace (empty: all), then by the text of the selector: many Gslbs look for the same. */
  readonly #bySelection = new Map<string, Map<string, Selecting>>();

  set(key: string, reads: RecordedReads, services: readonly ServiceRef[]): void {
    this.remove(key);
    const entry: Entry = {
      services: [...new Set(services.map(({ namespace, name }) => `${namespace}/${name}`))],
      objects: [...reads.objects],
      kinds: [...reads.kinds],
      selections: [...reads.selections],
    };
    this.#entries.set(key, entry);
    for (const service of entry.services) add(this.#byService, service, key);
    for (const object of entry.objects) add(this.#byObject, object, key);
    for (const kind of entry.kinds) add(this.#byKind, kind, key);
    for (const { kind, namespace, selector } of entry.selections) {
      const place = placeOf(kind, namespace);
      const there = this.#bySelection.get(place) ?? new Map<string, Selecting>();
      this.#bySelection.set(place, there);
      const text = formatLabelSelector(selector);
      const selecting = there.get(text) ?? { selector, keys: new Set<string>() };
      there.set(text, selecting);
      selecting.keys.add(key);
    }
  }

  remove(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    for (const service of entry.services) drop(this.#byService, service, key);
    for (const object of entry.objects) drop(this.#byObject, object, key);
    for (const kind of entry.kinds) drop(this.#byKind, kind, key);
    for (const { kind, namespace, selector } of entry.selections) {
      const place = placeOf(kind, namespace);
      const there = this.#bySelection.get(place);
      const selecting = there?.get(formatLabelSelector(selector));
      selecting?.keys.delete(key);
      if (selecting?.keys.size === 0) there?.delete(formatLabelSelector(selector));
      if (there?.size === 0) this.#bySelection.delete(place);
    }
  }

  /** Gslbs whose hosts are served by a Service. */
  ofService(serviceKey: string): Iterable<string> {
    return this.#byService.get(serviceKey) ?? [];
  }

  /** Gslbs whose addresses are those of nodes on which a Service has endpoints. */
  ofSlices(serviceKey: string): Iterable<string> {
    return this.#byObject.get(readSlices(serviceKey)) ?? [];
  }

  /** Gslbs that read objects of a kind, for when what there is of it becomes known, or nothing is any more. */
  ofKind(kind: ObjectKind): Iterable<string> {
    return this.#byKind.get(kindName(kind)) ?? [];
  }

  /** Gslbs that what an object says matters to, or whose selector matches it now and did not before, or the reverse. */
  ofChange(kind: ObjectKind, { old, now, isSame }: ObjectChange): ReadonlySet<string> {
    const keys = new Set<string>();
    const object = now ?? old;
    if (object === undefined) return keys;
    const { namespace = "" } = object.metadata;
    const reads = isSame ? [] : [readObject(kind, objectKey(object.metadata))];
    if (!hasSameSpec(old, now)) reads.push(readSpec(kind, objectKey(object.metadata)));
    for (const read of reads) for (const key of this.#byObject.get(read) ?? []) keys.add(key);
    for (const place of [placeOf(kind, namespace), placeOf(kind, undefined)])
      for (const { selector, keys: selecting } of this.#bySelection.get(place)?.values() ?? []) {
        const did = old !== undefined && matchesLabels(selector, old.metadata.labels);
        const does = now !== undefined && matchesLabels(selector, now.metadata.labels);
        if (did !== does || (does && !isSame)) for (const key of selecting) keys.add(key);
      }
    return keys;
  }
}

function hasSameSpec(old: SpecOf, now: SpecOf): boolean {
  return old !== undefined && now !== undefined && deepEqual(old.spec, now.spec);
}

function placeOf(kind: ObjectKind, namespace: string | undefined): string {
  return `${kindName(kind)} ${namespace ?? ""}`;
}

function add(map: Map<string, Set<string>>, value: string, key: string): void {
  const keys = map.get(value);
  if (keys === undefined) map.set(value, new Set([key]));
  else keys.add(key);
}

function drop(map: Map<string, Set<string>>, value: string, key: string): void {
  const keys = map.get(value);
  keys?.delete(key);
  if (keys?.size === 0) map.delete(value);
}
