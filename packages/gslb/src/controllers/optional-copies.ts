import {
  Informer,
  type CollectionClient,
  type InformerRuntime,
  type SourceInformer,
} from "@meridian/controller";
import {
  customResourceDefinitionType,
  isStatusError,
  type CustomResourceDefinition,
  type KubeObject,
} from "@meridian/kube";
import { kindName, type ObjectKind } from "../resources/object-kind.ts";
import type { TaskScope } from "../tasks/task-scope.ts";
import { OptionalCopy } from "./optional-copy.ts";

/** What the copies are made with. */
export interface OptionalCopiesOptions {
  readonly client: CollectionClient;
  readonly tasks: TaskScope;
}

/** An object before and after a change; one that came was not there before, one that is gone is not there after it. */
export interface ObjectPair {
  readonly old?: KubeObject;
  readonly now?: KubeObject;
}

/**
 * Copies of kinds whose CustomResourceDefinition may be missing, come and go while the operator runs, and of core kinds that
 * few need. A kind is followed from the first time that somebody asks for its copy, in the best version that is served, and costs nothing before.
 *
 *     const copies = new OptionalCopies(runtime, { client, tasks });
 *     const routes = copies.of(httpRouteKind);
 *     routes.addHandler({ onDelete: (route) => wake(route) });
 *     copies.onState((kind) => wakeAllOf(kind));
 *     copies.start();
 *     await copies.settled();
 *     routes.state; // { is: "absent" } until somebody installs the Gateway API
 */
export class OptionalCopies {
  readonly #runtime: InformerRuntime;
  readonly #options: OptionalCopiesOptions;
  readonly #definitions: Informer<CustomResourceDefinition>;
  readonly #copies = new Map<string, OptionalCopy>();
  readonly #listeners: ((kind: ObjectKind) => void)[] = [];
  readonly #watchers: ((kind: ObjectKind, change: ObjectPair) => void)[] = [];
  /** Why definitions cannot be read. */
  #refusal: string | undefined;
  #waiting: (() => void)[] = [];

  constructor(runtime: InformerRuntime, options: OptionalCopiesOptions) {
    this.#runtime = runtime;
    this.#options = options;
    this.#definitions = new Informer<CustomResourceDefinition>(runtime, {
      client: options.client,
      type: customResourceDefinitionType,
      transform: withoutSchemas,
      onFailure: (error) => {
        if (!isStatusError(error) || (error.code !== 401 && error.code !== 403)) return;
        this.#refusal = `the operator may not read CustomResourceDefinitions: ${error.status.message ?? error.message}`;
        for (const copy of this.#copies.values()) this.#tell(copy);
      },
    });
    const changed = ({ metadata: { name = "" } }: CustomResourceDefinition): void => {
      const copy = this.#copies.get(name);
      if (copy !== undefined) this.#tell(copy);
    };
    this.#definitions.addHandler({
      onAdd: changed,
      onUpdate: (_old, definition) => changed(definition),
      onDelete: changed,
    });
  }

  /** The copies that there are now, for metrics. */
  get all(): readonly SourceInformer[] {
    return [this.#definitions, ...[...this.#copies.values()].flatMap(({ informer }) => informer ?? [])];
  }

  /** How many kinds were asked for. */
  get kindCount(): number {
    return this.#copies.size;
  }

  /** The copy of a kind, which is followed from now on. Handlers are added in the same turn. */
  of<T extends KubeObject>(kind: ObjectKind<T>): OptionalCopy<T> {
    const name = kindName(kind);
    const present = this.#copies.get(name);
    if (present !== undefined) return present as OptionalCopy<T>;
    const copy = new OptionalCopy<T>(this.#runtime, kind, {
      ...this.#options,
      onState: () => {
        for (const listener of this.#listeners) listener(kind);
        this.#release();
      },
    });
    const changed = (change: ObjectPair): void => {
      for (const watcher of this.#watchers) watcher(kind, change);
    };
    copy.addHandler({
      onAdd: (now) => changed({ now }),
      onUpdate: (old, now) => changed({ old, now }),
      onDelete: (old) => changed({ old }),
    });
    this.#copies.set(name, copy);
    queueMicrotask(() => this.#tell(copy));
    return copy;
  }

  /** Calls back whenever the copy of a kind is complete, absent or unreadable, and was not before. */
  onState(listener: (kind: ObjectKind) => void): void {
    this.#listeners.push(listener);
  }

  /** Calls back for each object of any copy that comes, changes or goes, those included that were there at first. */
  onChange(watcher: (kind: ObjectKind, change: ObjectPair) => void): void {
    this.#watchers.push(watcher);
  }

  /** Follows the definitions. */
  start(): void {
    this.#options.tasks.start("copy of customresourcedefinitions", (signal) => this.#definitions.run(signal));
    void this.#definitions.synced.then(() => {
      this.#refusal = undefined;
      for (const copy of this.#copies.values()) this.#tell(copy);
    });
  }

  /** Resolves when it is known of each copy asked for what there is, or that it cannot be known. */
  async settled(): Promise<void> {
    // A copy that was asked for in this turn has not begun yet.
    await Promise.resolve();
    while ([...this.#copies.values()].some(({ state }) => state.is === "waiting"))
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #tell(copy: OptionalCopy): void {
    const [firstVersion] = copy.kind.versions;
    // The core group has no definitions.
    if (copy.kind.group === "") return copy.serve(firstVersion);
    if (!this.#definitions.hasSynced) {
      if (this.#refusal !== undefined) copy.unreadable(this.#refusal);
      return;
    }
    const { kind } = copy;
    const definition = this.#definitions.lister.get(kindName(kind));
    if (definition === undefined) return copy.serve(undefined);
    const refusal = refusalOf(definition);
    if (refusal !== undefined) return copy.unreadable(refusal);
    // One that was made a moment ago is served in a moment.
    if (!hasCondition(definition, "Established", "True")) return;
    const served = definition.spec.versions.flatMap((version) => (version.served ? [version.name] : []));
    const version = kind.versions.find((each) => served.includes(each));
    if (version !== undefined) return copy.serve(version);
    const texts = [served, kind.versions].map((versions) => versions.join(", "));
    copy.unreadable(`${kindName(kind)} is served in version ${texts[0]}, and ${texts[1]} can be read`);
  }

  #release(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

/** Why a definition will not be served. */
function refusalOf(definition: CustomResourceDefinition): string | undefined {
  const refused = (definition.status?.conditions ?? []).find(
    ({ type, status }) => type === "NamesAccepted" && status === "False",
  );
  return (
    refused && `the CustomResourceDefinition ${definition.metadata.name} is not served: ${refused.message}`
  );
}

function hasCondition(definition: CustomResourceDefinition, type: string, status: string): boolean {
  return (definition.status?.conditions ?? []).some((each) => each.type === type && each.status === status);
}

/** Schemas are most of a definition, and not of interest here. */
function withoutSchemas(definition: CustomResourceDefinition): CustomResourceDefinition {
  const { managedFields: _managed, annotations: _annotations, ...metadata } = definition.metadata;
  const versions = definition.spec.versions.map(({ name, served, storage }) => ({ name, served, storage }));
  return { ...definition, metadata, spec: { ...definition.spec, versions } };
}
