import { ControllerError } from "../controller-error.ts";
import type { IndexFunction, Lister } from "./lister.ts";
import { ObjectIndex } from "./object-index.ts";
import type { RawObject } from "./raw-object.ts";

/** Told of an index function that threw; the object is then not found by that index. */
export type OnIndexError = (error: unknown, about: { readonly index: string; readonly key: string }) => void;

/** The objects of a copy by key, and the indexes over them. Each change is whole before anybody can read. */
export class ObjectStore<T> implements Lister<T> {
  #objects = new Map<string, RawObject<T>>();
  /** The keys of each namespace, once somebody has asked for one. */
  #namespaces: ObjectIndex<string> | undefined;
  readonly #indexes = new Map<string, ObjectIndex<T>>();
  readonly #onIndexError: OnIndexError;

  constructor(onIndexError: OnIndexError) {
    this.#onIndexError = onIndexError;
  }

  get size(): number {
    return this.#objects.size;
  }

  keys(): IterableIterator<string> {
    return this.#objects.keys();
  }

  has(key: string): boolean {
    return this.#objects.has(key);
  }

  /** The objects as they are kept. */
  entries(): IterableIterator<[string, RawObject<T>]> {
    return this.#objects.entries();
  }

  objects(): IterableIterator<RawObject<T>> {
    return this.#objects.values();
  }

  /** An object as it is kept. */
  raw(key: string): RawObject<T> | undefined {
    return this.#objects.get(key);
  }

  get(key: string): T | undefined {
    return this.#objects.get(key)?.decode();
  }

  list(namespace?: string): readonly T[] {
    if (namespace === undefined) return Array.from(this.#objects.values(), (object) => object.decode());
    if (this.#namespaces === undefined) {
      this.#namespaces = new ObjectIndex(namespaceOf);
      for (const key of this.#objects.keys()) this.#namespaces.put(key, key);
    }
    return this.#at(this.#namespaces.keys(namespace));
  }

  byIndex(name: string, value: string): readonly T[] {
    return this.#at(this.keysByIndex(name, value));
  }

  keysByIndex(name: string, value: string): ReadonlySet<string> {
    const index = this.#indexes.get(name);
    if (index !== undefined) return index.keys(value);
    const known = [...this.#indexes.keys()].join(", ");
    throw new ControllerError(
      "UnknownIndex",
      `there is no index ${JSON.stringify(name)}; there are: ${known || "none"}`,
    );
  }

  /** Adds an index over all objects, present and future. @throws ControllerError `IndexConflict` */
  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    if (this.#indexes.has(name)) {
      throw new ControllerError(
        "IndexConflict",
        `there is an index ${JSON.stringify(name)} already; choose another name`,
      );
    }
    const index = new ObjectIndex<T>(valuesOf);
    this.#indexes.set(name, index);
    for (const [key, object] of this.#objects) this.#file({ name, index }, key, object);
  }

  /** Takes all these objects, of which there was none before; the map is the store's from now on. */
  adopt(objects: Map<string, RawObject<T>>): void {
    this.#objects = objects;
    if (this.#namespaces !== undefined) for (const key of objects.keys()) this.#namespaces.put(key, key);
    for (const [name, index] of this.#indexes) {
      for (const [key, object] of objects) this.#file({ name, index }, key, object);
    }
  }

  put(key: string, object: RawObject<T>): void {
    this.#objects.set(key, object);
    this.#namespaces?.put(key, key);
    for (const [name, index] of this.#indexes) this.#file({ name, index }, key, object);
  }

  delete(key: string): void {
    this.#objects.delete(key);
    this.#namespaces?.delete(key);
    for (const index of this.#indexes.values()) index.delete(key);
  }

  #file(
    at: { readonly name: string; readonly index: ObjectIndex<T> },
    key: string,
    object: RawObject<T>,
  ): void {
    try {
      at.index.put(key, object.decode());
    } catch (error) {
      // It may not be found by what it was before.
      at.index.delete(key);
      this.#onIndexError(error, { index: at.name, key });
    }
  }

  #at(keys: ReadonlySet<string>): readonly T[] {
    return Array.from(keys, (key) => (this.#objects.get(key) as RawObject<T>).decode());
  }
}

function namespaceOf(key: string): readonly string[] {
  const slash = key.indexOf("/");
  return [slash < 0 ? "" : key.slice(0, slash)];
}
