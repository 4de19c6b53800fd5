import { apiVersionOf, freeze, objectKey } from "@meridian/kube";
import type { KubeObject, ResourceType } from "@meridian/kube";
import { compactVersion, readingOf } from "../client/object-reading.ts";
import type { ObjectReading } from "../client/object-reading.ts";
import { ManagedFieldsCutter, dropManagedFields } from "./managed-fields.ts";
import { ObjectStore } from "./object-store.ts";
import type { OnIndexError } from "./object-store.ts";
import { OctetArena } from "./octet-arena.ts";
import type { CompleteObject, RawObject } from "./raw-object.ts";

/** How a copy keeps its objects. */
export interface RawCopyOptions<T> {
  readonly type: ResourceType;
  /** Changes an object before it is kept. */
  readonly transform: ((object: T) => T) | undefined;
  readonly onTransformError: (error: unknown, about: { readonly key: string }) => void;
  readonly onIndexError: OnIndexError;
}

/** The objects of a copy and the octets that they are made of. */
export class RawCopy<T extends KubeObject> {
  readonly store: ObjectStore<T>;
  readonly #options: RawCopyOptions<T>;
  readonly #arena: OctetArena<T>;
  readonly #complete: CompleteObject;
  readonly #cutter = new ManagedFieldsCutter();

  constructor(options: RawCopyOptions<T>) {
    this.#options = options;
    this.#complete = completeObject(options.type);
    this.#arena = new OctetArena<T>(this.#complete);
    this.store = new ObjectStore<T>(options.onIndexError);
  }

  /** Octets in memory for the objects. */
  get bytes(): number {
    return this.#arena.bytes;
  }

  get isEmpty(): boolean {
    return this.store.size === 0;
  }

  /** Takes all objects of a copy that has none. */
  adopt(objects: Map<string, RawObject<T>>): void {
    this.store.adopt(objects);
  }

  entries(): IterableIterator<[string, RawObject<T>]> {
    return this.store.entries();
  }

  objects(): IterableIterator<RawObject<T>> {
    return this.store.objects();
  }

  get(key: string): RawObject<T> | undefined {
    return this.store.raw(key);
  }

  put(key: string, object: RawObject<T>): void {
    this.store.put(key, object);
  }

  delete(key: string): void {
    this.store.delete(key);
  }

  hold(object: RawObject<T>): void {
    this.#arena.hold(object);
  }

  release(object: RawObject<T>): void {
    this.#arena.release(object);
  }

  /** Keeps the octets of an object, as they came or as the transform wants them. `key`: the same text, if there is one. */
  keep(reading: ObjectReading, key: string = reading.key): RawObject<T> {
    const { transform } = this.#options;
    if (transform === undefined) return this.#arena.put(reading, key);
    const cut = transform === dropManagedFields ? this.#cut(reading) : undefined;
    if (cut !== undefined) return this.#arena.put(cut, key);
    const shaped = this.#transformed(reading, transform);
    if (shaped === undefined) return this.#arena.put(reading, key);
    const object = this.#arena.put(shaped.reading, key);
    object.remember(shaped.value);
    return object;
  }

  #cut(reading: ObjectReading): ObjectReading | undefined {
    const { withoutManagedFields } = reading.format;
    return withoutManagedFields === undefined ? this.#cutter.cut(reading) : withoutManagedFields(reading);
  }

  #decode({ format, octets, start, end }: ObjectReading): T {
    return this.#complete(format.decode(octets, start, end)) as T;
  }

  /** Where the transform fails the object is kept whole: a gap in the copy would be worse. */
  #transformed(
    reading: ObjectReading,
    transform: (object: T) => T,
  ): { readonly value: T; readonly reading: ObjectReading } | undefined {
    try {
      const value = transform(this.#decode(reading));
      const { uid = "", resourceVersion = "" } = value.metadata;
      const same =
        objectKey(value.metadata) === reading.key &&
        compactVersion(resourceVersion) === reading.version &&
        uid === reading.octets.toString("utf8", reading.uidStart, reading.uidEnd);
      if (!same) throw new Error("the transform changed name, namespace, uid or resourceVersion");
      return { value: freeze(value), reading: readingOf(value) };
    } catch (error) {
      this.#options.onTransformError(error, { key: reading.key });
      return undefined;
    }
  }
}

/** Items of the lists of built-in types say neither their version nor their kind. */
function completeObject(type: ResourceType): CompleteObject {
  const { kind } = type;
  const apiVersion = apiVersionOf(type);
  return (value) => {
    const object = value as { kind?: string; apiVersion?: string };
    object.kind ??= kind;
    object.apiVersion ??= apiVersion;
    return object;
  };
}
