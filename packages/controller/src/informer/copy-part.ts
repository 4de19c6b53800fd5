import type { KubeObject } from "@meridian/kube";
import type { ObjectReading } from "../client/object-reading.ts";
import type { ReflectorTarget } from "../reflector/reflector-options.ts";
import type { Change } from "./delivery.ts";
import type { RawCopy } from "./raw-copy.ts";
import type { RawObject } from "./raw-object.ts";

/** What a part of a copy tells of itself. */
export interface CopyPartOptions<T> {
  /** Absent: the part is the whole. */
  readonly namespace?: string | undefined;
  /** The part is complete for the first time. */
  readonly onComplete: () => void;
  readonly onChanges: (changes: readonly Change<T>[]) => void;
  readonly onProgress: () => void;
}

/** The part of a copy that one reflector keeps: all of it, or one namespace. */
export class CopyPart<T extends KubeObject> implements ReflectorTarget {
  readonly #copy: RawCopy<T>;
  readonly #options: CopyPartOptions<T>;
  /** Keys of this part begin so. */
  readonly #prefix: string;
  /** Objects of a state that is on its way. Those that are in the copy already are the same. */
  #collected = new Map<string, RawObject<T>>();
  #complete = false;
  /** The object whose version was asked for last. */
  #asked: RawObject<T> | undefined;

  constructor(copy: RawCopy<T>, options: CopyPartOptions<T>) {
    this.#copy = copy;
    this.#options = options;
    this.#prefix = options.namespace === undefined ? "" : `${options.namespace}/`;
  }

  collect(reading: ObjectReading): void {
    const { key } = reading;
    const stored = this.#copy.isEmpty ? undefined : this.#copy.get(key);
    if (stored?.isStateOf(reading) === true) return this.#collect(stored.key, stored);
    this.#collect(key, this.#copy.keep(reading, stored?.key));
  }

  uncollect(key: string): void {
    this.#drop(key);
    this.#collected.delete(key);
  }

  discard(): void {
    for (const key of this.#collected.keys()) this.#drop(key);
    this.#collected = new Map();
  }

  replace(): void {
    const collected = this.#collected;
    this.#collected = new Map();
    if (!this.#complete && this.#copy.isEmpty) {
      this.#complete = true;
      this.#copy.adopt(collected);
      return this.#options.onComplete();
    }
    const changes: Change<T>[] = [];
    const replaced: RawObject<T>[] = [];
    for (const [key, before] of this.#copy.entries()) {
      if (collected.has(key) || !key.startsWith(this.#prefix)) continue;
      this.#copy.delete(key);
      replaced.push(before);
      changes.push({ key, before, after: undefined });
    }
    for (const [key, after] of collected) {
      const before = this.#copy.get(key);
      if (before === after) continue;
      this.#copy.put(key, after);
      if (this.#complete) changes.push({ key, before, after });
      if (before !== undefined) replaced.push(before);
    }
    if (this.#complete) this.#options.onChanges(changes);
    else {
      this.#complete = true;
      this.#options.onComplete();
    }
    for (const before of replaced) this.#copy.release(before);
  }

  apply(type: "ADDED" | "MODIFIED" | "DELETED", reading: ObjectReading): void {
    const { key } = reading;
    // The reflector has just asked for the version of what is to be changed.
    const before = this.#asked?.key === key ? this.#asked : this.#copy.get(key);
    this.#asked = undefined;
    if (type !== "DELETED") {
      if (before?.isStateOf(reading) === true) return;
      const after = this.#copy.keep(reading, before?.key);
      this.#copy.put(after.key, after);
      this.#options.onChanges([{ key: after.key, before, after }]);
    } else {
      // Nobody was told of an object that was not there, so nobody is told of its end.
      if (before === undefined) return;
      const final = this.#copy.keep(reading, before.key);
      this.#copy.delete(key);
      this.#options.onChanges([{ key: before.key, before, after: undefined, final }]);
      this.#copy.release(final);
    }
    if (before !== undefined) this.#copy.release(before);
  }

  versionOf(key: string): string | undefined {
    this.#asked = this.#copy.get(key);
    return this.#asked?.resourceVersion;
  }

  progressed(): void {
    this.#options.onProgress();
  }

  #collect(key: string, object: RawObject<T>): void {
    // Pages of one list do not overlap, as a rule.
    if (this.#collected.has(key)) this.#drop(key);
    this.#collected.set(key, object);
  }

  /** Lets an object go that was collected and is not in the copy. */
  #drop(key: string): void {
    const collected = this.#collected.get(key);
    if (collected !== undefined && this.#copy.get(key) !== collected) this.#copy.release(collected);
  }
}
