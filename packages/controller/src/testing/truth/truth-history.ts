import { objectKey } from "@meridian/kube";
import type { KubeObject, ResourceType } from "@meridian/kube";

/** One write, as it became a version. */
export interface TruthChange {
  readonly version: number;
  readonly type: ResourceType;
  /** `namespace/name`, or `name`. */
  readonly key: string;
  /** Absent: deleted. */
  readonly object: KubeObject | undefined;
  /** What was there before; absent: nothing. */
  readonly before: KubeObject | undefined;
}

/** All objects of a server that exists in memory only, and everything that ever happened to them. */
export class TruthHistory {
  #changes: TruthChange[] = [];
  readonly #now = new Map<string, Map<string, KubeObject>>();
  readonly #observers = new Set<(change: TruthChange) => void>();
  #version: number;
  #compactedAt = 0;

  constructor(firstVersion: number) {
    this.#version = firstVersion;
  }

  /** The version of the newest write. */
  get version(): number {
    return this.#version;
  }

  /** Watches and continued lists from before this version are too old. */
  get compactedAt(): number {
    return this.#compactedAt;
  }

  compact(version: number): void {
    this.#compactedAt = Math.max(this.#compactedAt, version);
  }

  /** Forgets everything after a version, as a store does that is restored from a backup: versions come again. */
  restore(version: number): void {
    const types = new Map(this.#changes.map(({ type }) => [collectionOf(type), type]));
    for (const [collection, type] of types) this.#now.set(collection, new Map(this.stateAt(type, version)));
    this.#changes = this.#changes.filter((change) => change.version <= version);
    this.#version = version;
    this.#compactedAt = Math.min(this.#compactedAt, version);
  }

  /** A version that belongs to nothing here. */
  tick(): number {
    return ++this.#version;
  }

  /** Writes an object in its next version, and tells the observers. Returns it with that version. */
  put<T extends KubeObject>(type: ResourceType, object: T): T {
    const stored = withVersion(object, this.#version + 1);
    this.#commit(type, objectKey(object.metadata), stored);
    return stored;
  }

  /** Deletes an object; returns its last state with the version of the deletion. */
  remove(type: ResourceType, key: string): KubeObject | undefined {
    const before = this.get(type, key);
    if (before === undefined) return undefined;
    this.#commit(type, key, undefined);
    return withVersion(before, this.#version);
  }

  get(type: ResourceType, key: string): KubeObject | undefined {
    return this.#now.get(collectionOf(type))?.get(key);
  }

  /** The collection as it was at a version, sorted by key. Versions that were compacted stay known here. */
  stateAt(type: ResourceType, version: number): ReadonlyMap<string, KubeObject> {
    const collection = collectionOf(type);
    const state =
      version >= this.#version ? new Map(this.#now.get(collection)) : new Map<string, KubeObject>();
    if (version < this.#version) {
      for (const change of this.#changes) {
        if (change.version > version) break;
        if (collectionOf(change.type) !== collection) continue;
        if (change.object === undefined) state.delete(change.key);
        else state.set(change.key, change.object);
      }
    }
    return new Map([...state].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** The changes of a collection after a version, in order. */
  changesAfter(type: ResourceType, version: number): readonly TruthChange[] {
    const collection = collectionOf(type);
    const found: TruthChange[] = [];
    for (let at = this.#changes.length - 1; at >= 0; at--) {
      const change = this.#changes[at] as TruthChange;
      if (change.version <= version) break;
      if (collectionOf(change.type) === collection) found.push(change);
    }
    return found.reverse();
  }

  /** Calls `observer` at each change, before whoever made it goes on. The returned function ends it. */
  observe(observer: (change: TruthChange) => void): () => void {
    this.#observers.add(observer);
    return () => void this.#observers.delete(observer);
  }

  #commit(type: ResourceType, key: string, object: KubeObject | undefined): void {
    const collection = collectionOf(type);
    let objects = this.#now.get(collection);
    if (objects === undefined) this.#now.set(collection, (objects = new Map()));
    const before = objects.get(key);
    if (object === undefined) objects.delete(key);
    else objects.set(key, object);
    const change = { version: ++this.#version, type, key, object, before };
    this.#changes.push(change);
    for (const observer of this.#observers) observer(change);
  }
}

/** Collections are told apart by group and plural: all versions of a group show the same objects. */
export function isSameCollection(one: ResourceType, other: ResourceType): boolean {
  return collectionOf(one) === collectionOf(other);
}

function collectionOf({ group, plural }: ResourceType): string {
  return `${plural}.${group}`;
}

/** The object with another `resourceVersion`. */
export function withVersion<T extends KubeObject>(object: T, version: number): T {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
}
