import type { KubeObject } from "@meridian/kube";
import { ControllerError } from "../controller-error.ts";
import type { IndexFunction, Lister } from "./lister.ts";
import { ObjectIndex } from "./object-index.ts";

/** Told of an index function that threw; the object is then not found by that index. */
export type OnIndexError = (error: unknown, about: { readonly index: string; readonly key: string }) => void;

/** The objects of a copy by key, and the indexes over them. Each change is whole before anybody can read. */
export class ObjectStore<T extends KubeObject> implements Lister<T> {
  readonly #objects = new Map<string, T>();
  readonly #namespaces = new ObjectIndex<T>((object) => [object.metadata.namespace ?? ""]);
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

  entries(): IterableIterator<[string, T]> {
    return this.#objects.entries();
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  list(namespace?: string): readonly T[] {
    return namespace === undefined ? [...this.#objects.values()] : this.#at(this.#namespaces.keys(namespace));
  }

  byIndex(name: string, value: string): readonly T[] {
    const index = this.#indexes.get(name);
    if (index !== undefined) return this.#at(index.keys(value));
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

  put(key: string, object: T): void {
    this.#objects.set(key, object);
    this.#namespaces.put(key, object);
    for (const [name, index] of this.#indexes) this.#file({ name, index }, key, object);
  }

  delete(key: string): void {
    this.#objects.delete(key);
    this.#namespaces.delete(key);
    for (const index of this.#indexes.values()) index.delete(key);
  }

  #file(at: { readonly name: string; readonly index: ObjectIndex<T> }, key: string, object: T): void {
    try {
      at.index.put(key, object);
    } catch (error) {
      this.#onIndexError(error, { index: at.name, key });
    }
  }

  #at(keys: ReadonlySet<string>): readonly T[] {
    return Array.from(keys, (key) => this.#objects.get(key) as T);
  }
}
