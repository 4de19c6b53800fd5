import { Informer, type KubeClient } from "@meridian/controller";
import { deepEqual, objectKey, type KubeObject, type ResourceType } from "@meridian/kube";
import type { Runtime } from "@meridian/runtime";
import { collectionKey } from "../fleet/application.ts";
import type { TruthLog } from "../observation/truth-log.ts";

export interface WatchedCopyOptions {
  /** Whose copy it is, for people. */
  readonly name: string;
  readonly client: KubeClient;
  readonly type: ResourceType;
  readonly truth: TruthLog;
  readonly onWrong: (seen: string) => void;
}

type Object = KubeObject & { readonly spec?: unknown; readonly status?: unknown };

/** An informer whose copy is compared with the truth at each version that it comes to, and its handler's story too. */
export class WatchedCopy {
  readonly #options: WatchedCopyOptions;
  readonly #informer: Informer<Object>;
  /** What the handler was told so far: versions by key. */
  readonly #told = new Map<string, KubeObject>();
  #version = "";

  constructor(runtime: Runtime, options: WatchedCopyOptions) {
    this.#options = options;
    const { client, type } = options;
    this.#informer = new Informer<Object>(runtime, { client, type, pageSize: 3 });
    this.#informer.addHandler({
      onAdd: (object) => this.#hear("added", object),
      onUpdate: (old, object) => this.#hear("updated", object, old),
      onDelete: (object) => this.#hear("deleted", object),
    });
    void this.#informer.run(new AbortController().signal);
  }

  /** Compares the copy, if it has come to another version since the last call. @returns whether it has */
  check(): boolean {
    const { version } = this.#informer;
    if (version === this.#version) return false;
    this.#version = version;
    const { truth, type, name } = this.#options;
    const expected = truth.at(collectionKey(type), Number(version));
    const found = new Map(
      this.#informer.lister.list().map((object) => [keyOf(type, object), object] as const),
    );
    for (const [key, event] of expected) {
      const object = found.get(key);
      if (object === undefined) this.#wrong(`${name} at version ${version} lacks ${key}`);
      else if (object.metadata.resourceVersion !== String(event.revision)) {
        const has = object.metadata.resourceVersion ?? "none";
        this.#wrong(`${name} at version ${version} has ${key} at ${has}, the truth is ${event.revision}`);
      } else if (!isSame(object, truth.decode<Object>(event)))
        this.#wrong(`${name} at version ${version} has another content of ${key} than the truth`);
    }
    for (const key of found.keys())
      if (!expected.has(key)) this.#wrong(`${name} at version ${version} has ${key}, which does not exist`);
    return true;
  }

  /** Whether the copy shows everything that was written until `untilMs`, and its handler was told of it. */
  checkCaughtUp(untilMs: number): void {
    const { truth, type, name } = this.#options;
    const newest = truth.newestOf(collectionKey(type), untilMs);
    const { version, lister } = this.#informer;
    if (Number(version) < newest)
      this.#wrong(`${name} is still at version ${version}; the truth is at ${newest}`);
    const shown = lister.list();
    const isUntold =
      this.#told.size !== shown.length ||
      shown.some(
        (object) =>
          this.#told.get(objectKey(object.metadata))?.metadata.resourceVersion !==
          object.metadata.resourceVersion,
      );
    if (isUntold) this.#wrong(`the handler of ${name} was not told of everything in the copy`);
  }

  #hear(what: "added" | "updated" | "deleted", object: KubeObject, old?: KubeObject): void {
    const key = objectKey(object.metadata);
    const known = this.#told.get(key);
    const { name } = this.#options;
    if ((what === "added") !== (known === undefined))
      this.#wrong(
        `the handler of ${name} heard that ${key} was ${what}, and ${known ? "knows" : "never met"} it`,
      );
    if (old !== undefined && old.metadata.resourceVersion !== known?.metadata.resourceVersion)
      this.#wrong(
        `the handler of ${name} heard of ${key} that it changed from a state that it was not told of`,
      );
    if (
      what === "updated" &&
      Number(object.metadata.resourceVersion) <= Number(known?.metadata.resourceVersion)
    )
      this.#wrong(`the handler of ${name} heard that ${key} went back in time`);
    if (what === "deleted") this.#told.delete(key);
    else this.#told.set(key, object);
  }

  #wrong(seen: string): void {
    this.#options.onWrong(seen);
  }
}

function keyOf(type: ResourceType, object: KubeObject): string {
  return `${collectionKey(type)}${objectKey(object.metadata)}`;
}

/** Whether the copy's object is the stored one, as far as a user wrote it. */
function isSame(copy: Object, stored: Object | undefined): boolean {
  return (
    stored !== undefined &&
    copy.metadata.uid === stored.metadata.uid &&
    deepEqual(copy.metadata.labels, stored.metadata.labels) &&
    deepEqual(copy.spec, stored.spec) &&
    deepEqual(copy.status, stored.status)
  );
}
