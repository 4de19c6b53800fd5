/** One index over the objects of a copy: from a value to the keys of the objects that yield it. */
export class ObjectIndex<T> {
  readonly #valuesOf: (object: T) => Iterable<string>;
  readonly #keys = new Map<string, Set<string>>();
  /** What each object was filed under, so that it is found there again whatever the function says later. */
  readonly #filed = new Map<string, readonly string[]>();

  constructor(valuesOf: (object: T) => Iterable<string>) {
    this.#valuesOf = valuesOf;
  }

  /** The keys filed under a value. */
  keys(value: string): ReadonlySet<string> {
    return this.#keys.get(value) ?? none;
  }

  /** Files an object anew. Throws what the index function throws; the object is then filed under nothing. */
  put(key: string, object: T): void {
    this.delete(key);
    const values = [...new Set(this.#valuesOf(object))];
    if (values.length === 0) return;
    this.#filed.set(key, values);
    for (const value of values) {
      const keys = this.#keys.get(value);
      if (keys === undefined) this.#keys.set(value, new Set([key]));
      else keys.add(key);
    }
  }

  delete(key: string): void {
    for (const value of this.#filed.get(key) ?? []) {
      const keys = this.#keys.get(value);
      keys?.delete(key);
      if (keys?.size === 0) this.#keys.delete(value);
    }
    this.#filed.delete(key);
  }
}

const none: ReadonlySet<string> = new Set();
