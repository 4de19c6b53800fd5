import {
  dropManagedFields,
  Informer,
  type CollectionClient,
  type InformerHandler,
  type InformerRuntime,
} from "@meridian/controller";
import {
  apiVersionOf,
  deepEqual,
  isNotFound,
  isStatusError,
  objectKey,
  type KubeObject,
  type ResourceType,
} from "@meridian/kube";
import type { CopyState } from "../references/reference-source.ts";
import type { ObjectKind } from "../resources/object-kind.ts";
import type { TaskScope } from "../tasks/task-scope.ts";

/** What copies are made with. */
export interface OptionalCopyParts {
  readonly client: CollectionClient;
  readonly tasks: TaskScope;
  /** The state is another now. */
  readonly onState: () => void;
}

interface Run<T extends KubeObject> {
  readonly version: string;
  readonly informer: Informer<T>;
  readonly tasks: TaskScope;
}

/**
 * The copy of one optional kind: complete while the kind is served, empty while it is not. When it goes, each handler is
 * told of each object as deleted (`missed`); when the kind moves to another version, the old copy is read until the new one
 * is complete, and handlers hear no more than what differs in time: each object as updated.
 */
export class OptionalCopy<T extends KubeObject = KubeObject> {
  readonly kind: ObjectKind<T>;
  readonly #runtime: InformerRuntime;
  readonly #parts: OptionalCopyParts;
  readonly #handlers: InformerHandler<T>[] = [];
  #state: CopyState = { is: "waiting" };
  /** What is read, and what shall be read once it is complete. */
  #current: Run<T> | undefined;
  #next: Run<T> | undefined;

  constructor(runtime: InformerRuntime, kind: ObjectKind<T>, parts: OptionalCopyParts) {
    this.#runtime = runtime;
    this.kind = kind;
    this.#parts = parts;
  }

  get state(): CopyState {
    return this.#state;
  }

  /** The informer that is read now, for metrics. */
  get informer(): Informer<T> | undefined {
    return this.#current?.informer;
  }

  /** By `namespace/name`. */
  get(key: string): T | undefined {
    return this.#current?.informer.lister.get(key);
  }

  /** All objects, or those of one namespace. */
  list(namespace?: string): readonly T[] {
    return this.#current?.informer.lister.list(namespace) ?? [];
  }

  /** Adds a handler; before the kind is followed, so before the first `serve`. */
  addHandler(handler: InformerHandler<T>): void {
    this.#handlers.push(handler);
  }

  /** The kind is served in this version from now on; `undefined`: it is not served at all. */
  serve(version: string | undefined): void {
    if (version === undefined) return this.#drop();
    if (this.#next !== undefined ? this.#next.version === version : this.#current?.version === version)
      return;
    this.#next?.tasks.abort(new Error("served in another version"));
    this.#next = undefined;
    if (this.#current?.version === version) return;
    const run = this.#follow(version);
    this.#next = run;
    if (this.#state.is === "absent") this.#become({ is: "waiting" });
    void run.informer.synced.then(() => this.#take(run));
  }

  /** Nobody can tell what there is. A copy that was complete is read on: what it shows is the last that is known. */
  unreadable(message: string): void {
    if (this.#state.is !== "complete") this.#become({ is: "unreadable", message });
  }

  #follow(version: string): Run<T> {
    const { group, plural, kind, namespaced } = this.kind;
    const type: ResourceType<T> = { group, version, plural, kind, namespaced };
    const informer = new Informer<T>(this.#runtime, {
      client: this.#parts.client,
      type,
      transform: (object) => dropManagedFields(this.kind.trim?.(object) ?? object),
      onFailure: (error, { failures }) => {
        const isForbidden = isStatusError(error) && (error.code === 401 || error.code === 403);
        // A kind that was defined a moment ago may not be served yet.
        const isAnswer = isForbidden || (isNotFound(error) && group === "");
        const patience = isAnswer ? 0 : isNotFound(error) ? 10 : 3;
        if (failures >= patience) this.unreadable((error as Error).message);
      },
    });
    const previous = this.#current?.informer;
    const registration = informer.addHandler(this.#told(previous));
    const tasks = this.#parts.tasks.child();
    tasks.start(`copy of ${plural} in ${apiVersionOf(type)}`, (signal) => informer.run(signal));
    if (previous !== undefined)
      void registration.synced.then(() => this.#tellGone(previous, (key) => !informer.lister.has(key)));
    return { version, informer, tasks };
  }

  /** What handlers are told by one informer; what the previous one had is no news. */
  #told(previous: Informer<T> | undefined): InformerHandler<T> {
    const tell = async (call: (handler: InformerHandler<T>) => void | Promise<void>): Promise<void> => {
      for (const handler of this.#handlers) await call(handler);
    };
    return {
      onAdd: (object, about) => {
        const old = about.initial ? previous?.lister.get(objectKey(object.metadata)) : undefined;
        return tell((handler) =>
          old === undefined
            ? handler.onAdd?.(object, about)
            : handler.onUpdate?.(old, object, { resync: false }),
        );
      },
      onUpdate: (old, object, about) => tell((handler) => handler.onUpdate?.(old, object, about)),
      onDelete: (object, about) => tell((handler) => handler.onDelete?.(object, about)),
    };
  }

  #take(run: Run<T>): void {
    if (this.#next !== run) return;
    this.#current?.tasks.abort(new Error("served in another version"));
    this.#current = run;
    this.#next = undefined;
    this.#become({ is: "complete" });
  }

  #drop(): void {
    const gone = this.#current;
    for (const run of [gone, this.#next]) run?.tasks.abort(new Error("the kind is not served any more"));
    this.#current = undefined;
    this.#next = undefined;
    if (gone !== undefined) this.#tellGone(gone.informer, () => true);
    this.#become({ is: "absent" });
  }

  #tellGone(informer: Informer<T>, isGone: (key: string) => boolean): void {
    this.#parts.tasks.start("telling of objects that are gone", async () => {
      for (const key of informer.lister.keys()) {
        const object = isGone(key) ? informer.lister.get(key) : undefined;
        if (object !== undefined)
          for (const handler of this.#handlers) await handler.onDelete?.(object, { missed: true });
      }
    });
  }

  #become(state: CopyState): void {
    if (deepEqual(state, this.#state)) return;
    this.#state = state;
    this.#parts.onState();
  }
}
