import { objectKey } from "@meridian/kube";
import type { KubeObject } from "@meridian/kube";
import type { InformerHandler } from "../../informer/informer-handler.ts";

/**
 * A handler that checks whether what it is told could have happened, and passes it on: nothing is updated or deleted that
 * was not added, nothing is added twice, each update starts from the state told before, another uid is another object,
 * versions do not go back, and no call begins before the last has ended. A call that the inner handler fails does not count,
 * since it is made again.
 */
export class HandlerHistory<T extends KubeObject = KubeObject> {
  /** What to give to `informer.addHandler`. */
  readonly handler: InformerHandler<T>;
  readonly #objects = new Map<string, T>();
  readonly #problems: string[] = [];
  #calls = 0;
  #inCall = false;

  constructor(inner: InformerHandler<T> = {}) {
    this.handler = {
      ...(inner.onKey === undefined ? {} : { onKey: (change) => inner.onKey?.(change) }),
      onAdd: (object, about) =>
        this.#call(
          () => inner.onAdd?.(object, about),
          () => this.#added(object),
        ),
      onUpdate: (old, object, about) =>
        this.#call(
          () => inner.onUpdate?.(old, object, about),
          () => this.#updated(old, object),
        ),
      onDelete: (object, about) =>
        this.#call(
          () => inner.onDelete?.(object, about),
          () => this.#deleted(object),
        ),
    };
  }

  /** What could not have happened, in words. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /** Calls that succeeded so far. */
  get calls(): number {
    return this.#calls;
  }

  /** What there is, for all that the handler was told. */
  get objects(): ReadonlyMap<string, T> {
    return this.#objects;
  }

  /** @throws Error with the first problem, or with what differs where the objects told are not exactly these */
  check(expected: Iterable<T>): void {
    if (this.#problems.length > 0) throw new Error(`a handler was told: ${this.#problems[0]}`);
    const told = [...this.#objects.values()].map(stateOf).sort().join("\n");
    const there = Array.from(expected, stateOf).sort().join("\n");
    if (told !== there) {
      throw new Error(`a handler was told of\n${told}\nand in truth there is\n${there}`);
    }
  }

  #call(pass: () => void | Promise<void>, note: () => void): void | Promise<void> {
    if (this.#inCall) this.#problems.push("a call began before the last had ended");
    this.#inCall = true;
    const succeed = (): void => {
      this.#inCall = false;
      this.#calls++;
      note();
    };
    const fail = (error: unknown): never => {
      this.#inCall = false;
      throw error;
    };
    let passed: void | Promise<void>;
    try {
      passed = pass();
    } catch (error) {
      return fail(error);
    }
    if (passed === undefined) return succeed();
    return passed.then(succeed, fail);
  }

  #added(object: T): void {
    const key = objectKey(object.metadata);
    if (this.#objects.has(key)) this.#problems.push(`${key} was added twice`);
    this.#objects.set(key, object);
  }

  #updated(old: T, object: T): void {
    const key = objectKey(object.metadata);
    const told = this.#objects.get(key);
    if (told === undefined) this.#problems.push(`${key} was updated before it was added`);
    else if (stateOf(told) !== stateOf(old)) {
      this.#problems.push(`${key} was updated from ${stateOf(old)} and is known as ${stateOf(told)}`);
    }
    if (old.metadata.uid !== object.metadata.uid) this.#problems.push(`${key} was updated to another uid`);
    if (versionOf(object) < versionOf(old)) {
      this.#problems.push(`${key} went back from ${stateOf(old)} to ${stateOf(object)}`);
    }
    this.#objects.set(key, object);
  }

  #deleted(object: T): void {
    const key = objectKey(object.metadata);
    const told = this.#objects.get(key);
    if (told === undefined) this.#problems.push(`${key} was deleted and not there`);
    else if (told.metadata.uid !== object.metadata.uid) this.#problems.push(`another ${key} was deleted`);
    this.#objects.delete(key);
  }
}

function stateOf({ metadata }: KubeObject): string {
  return `${objectKey(metadata)} ${metadata.uid}@${metadata.resourceVersion}`;
}

/** Versions are decimal numbers since Kubernetes 1.35 says so; any other cannot be compared. */
function versionOf({ metadata }: KubeObject): number {
  const version = Number(metadata.resourceVersion);
  return Number.isNaN(version) ? Infinity : version;
}
