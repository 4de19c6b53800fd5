import {
  deepEqual,
  isConditionTrue,
  isNotFound,
  setCondition,
  type Condition,
  type CustomResourceDefinition,
} from "@meridian/kube";
import { followStore, type StoreStep } from "../background/follow-store.ts";
import { ignoringMissing } from "../background/ignoring-missing.ts";
import { collectionPrefix, refOf } from "../objects/object-store.ts";
import { asDefinition, cleanupFinalizer } from "../resource/builtin/custom-resource-definitions.ts";
import { type ApiObject, asObject, type ServedResource } from "../resource/definition.ts";
import type { ApiContext } from "../verbs/api-context.ts";
import { changeObject } from "../verbs/change-object.ts";
import { deleteObject } from "../verbs/delete.ts";
import { plainDelete } from "../verbs/delete-options.ts";
import { decideNames, heldNames, type TakenNames } from "./accepted-names.ts";
import { definitionOfCrd } from "./definition-of-crd.ts";

/** How often the instances of a definition that is being deleted are looked at again. */
const retryMs = 250;
/** How long a failed attempt to delete them is put off. */
const failureRetryMs = 1_000;

/** Serves stored definitions, and says in their status what became of them. */
export function startDefinitions(context: ApiContext): {
  readonly ready: Promise<void>;
  readonly stopped: Promise<void>;
} {
  const crds = context.registry.served({
    group: "apiextensions.k8s.io",
    version: "v1",
    plural: "customresourcedefinitions",
  });
  if (crds === undefined) return { ready: Promise.resolve(), stopped: Promise.resolve() };
  const loop = new DefinitionLoop(context, crds);
  let loaded: () => void = () => {};
  let failed: (error: unknown) => void = () => {};
  const ready = new Promise<void>((resolve, reject) => {
    loaded = resolve;
    failed = reject;
  });
  const stopped = loop.run(loaded).catch((error: unknown) => {
    failed(error);
    if (!context.closing.aborted)
      context.runtime.log.error("custom definitions are no longer followed", { error });
  });
  return { ready, stopped };
}

class DefinitionLoop {
  readonly #context: ApiContext;
  readonly #crds: ServedResource;
  /** Stored definitions by name. */
  readonly #known = new Map<string, ApiObject>();
  /** What each was served as, and made from: a status change alone changes nothing that is served. */
  readonly #served = new Map<string, { readonly spec: unknown; readonly terminating: boolean }>();
  readonly #emptying = new Map<string, Promise<void>>();

  constructor(context: ApiContext, crds: ServedResource) {
    this.#context = context;
    this.#crds = crds;
  }

  async run(loaded: () => void): Promise<void> {
    for await (const step of followStore(this.#context, collectionPrefix(this.#crds.definition))) {
      this.#apply(step);
      // Names that one definition gave up may be what another waits for, so all are looked at.
      for (const name of [...this.#known.keys()]) await this.#settle(name);
      loaded();
    }
    await Promise.all(this.#emptying.values());
  }

  #apply(step: StoreStep): void {
    if (step.kind === "state") {
      const present = new Map(
        step.records.map((record) => {
          const object = this.#context.objects.decode(this.#crds, record);
          return [object.metadata.name ?? "", object];
        }),
      );
      for (const name of [...this.#known.keys()]) if (!present.has(name)) this.#forget(name);
      for (const [name, object] of present) this.#remember(name, object);
      return;
    }
    for (const event of step.events) {
      const { current, previous } = this.#context.objects.change(this.#crds, event);
      const name = (current ?? previous)?.metadata.name ?? "";
      if (current === undefined) this.#forget(name);
      else this.#remember(name, current);
    }
  }

  /** A definition that was deleted and made again is another one: nothing of the first may go on. */
  #remember(name: string, object: ApiObject): void {
    const before = this.#known.get(name);
    if (before !== undefined && before.metadata.uid !== object.metadata.uid) this.#forget(name);
    this.#known.set(name, object);
  }

  #forget(name: string): void {
    const object = this.#known.get(name);
    this.#known.delete(name);
    if (object === undefined || !this.#served.delete(name)) return;
    const { group, names } = asDefinition(object).spec;
    this.#context.registry.delete({ group, plural: names.plural });
  }

  async #settle(name: string): Promise<void> {
    const object = this.#known.get(name);
    if (object === undefined) return;
    const crd = asDefinition(object);
    const terminating = object.metadata.deletionTimestamp !== undefined;
    const verdict = decideNames(crd, this.#takenByOthers(crd));
    const established = isConditionTrue(conditionsNow(crd), "Established");
    if (verdict.conflict === undefined || established) this.#serve(name, crd, terminating);

    if (terminating) {
      this.#empty(name, crd);
      return;
    }
    const now = this.#context.runtime.clock.now();
    const status = {
      ...crd.status,
      acceptedNames: verdict.accepted,
      conditions: conditionsOf(crd, { verdict, established, now }),
    };
    if (deepEqual(status, crd.status)) return;
    await this.#writeStatus(name, status);
  }

  #serve(name: string, crd: CustomResourceDefinition, terminating: boolean): void {
    const before = this.#served.get(name);
    if (before !== undefined && before.terminating === terminating && deepEqual(before.spec, crd.spec))
      return;
    try {
      this.#context.registry.set(definitionOfCrd(crd, { terminating }));
      this.#served.set(name, { spec: crd.spec, terminating });
    } catch (error) {
      // Creates and updates refuse such schemas; one that an older server let through must not stop the others.
      this.#context.runtime.log.warn("a definition cannot be served", { definition: name, error });
    }
  }

  #takenByOthers(crd: CustomResourceDefinition): TakenNames {
    const resources = new Set<string>();
    const kinds = new Set<string>();
    for (const definition of this.#context.registry.all()) {
      if (definition.custom || definition.group !== crd.spec.group) continue;
      for (const of of [definition.plural, definition.singular, ...definition.shortNames]) resources.add(of);
      for (const of of [definition.kind, definition.listKind]) kinds.add(of);
    }
    for (const other of this.#known.values()) {
      const definition = asDefinition(other);
      if (other.metadata.name === crd.metadata.name || definition.spec.group !== crd.spec.group) continue;
      const held = heldNames(definition);
      for (const of of held.resources) resources.add(of);
      for (const of of held.kinds) kinds.add(of);
    }
    return { resources, kinds };
  }

  async #writeStatus(name: string, status: NonNullable<CustomResourceDefinition["status"]>): Promise<void> {
    try {
      const written = await changeObject(this.#context, this.#crds, {
        ref: { name },
        target: "status",
        change: (current) =>
          asObject({ ...current, status: { ...(current["status"] as object | undefined), ...status } }),
      });
      // What was written counts at once, so that the next definition sees the names as taken.
      this.#known.set(name, written);
    } catch (error) {
      if (!isNotFound(error)) {
        this.#context.runtime.log.warn("the status of a definition could not be written", {
          definition: name,
          error,
        });
      }
    }
  }

  #empty(name: string, crd: CustomResourceDefinition): void {
    if (this.#emptying.has(name) || !(crd.metadata.finalizers ?? []).includes(cleanupFinalizer)) return;
    const task = this.#untilEmptied(name, crd).finally(() => this.#emptying.delete(name));
    this.#emptying.set(name, task);
  }

  /** Never rejects. A store that is busy or full for a moment must not leave a definition in its deletion for good. */
  async #untilEmptied(name: string, crd: CustomResourceDefinition): Promise<void> {
    const { closing, runtime } = this.#context;
    while (!closing.aborted) {
      try {
        return await this.#deleteInstances(name, crd);
      } catch (error) {
        if (closing.aborted) return;
        runtime.log.warn("the objects of a definition could not be deleted; trying again", {
          definition: name,
          error,
        });
        await runtime.clock.sleep(failureRetryMs, closing).catch(() => {});
      }
    }
  }

  async #deleteInstances(name: string, crd: CustomResourceDefinition): Promise<void> {
    const { group, names } = crd.spec;
    const { clock } = this.#context.runtime;
    const terminating = (reason: string, message: string): NewCondition => ({
      type: "Terminating",
      status: reason === "InstanceDeletionCompleted" ? "False" : "True",
      reason,
      message,
    });
    const tell = async (condition: NewCondition): Promise<void> => {
      const conditions = setCondition(conditionsNow(crd), condition, clock.now());
      await this.#writeStatus(name, { conditions });
    };
    await tell(terminating("InstanceDeletionInProgress", "CustomResource deletion is in progress"));
    for (;;) {
      const definition = this.#context.registry.get({ group, plural: names.plural });
      const version = definition?.versions[0];
      if (definition === undefined || version === undefined || !definition.custom) break;
      const resource = { definition, version };
      const { objects } = await this.#context.objects.list(resource, {
        prefix: collectionPrefix(definition),
      });
      if (objects.length === 0) break;
      for (const { object } of objects) {
        if (object.metadata.deletionTimestamp !== undefined) continue;
        await ignoringMissing(
          deleteObject(this.#context, resource, { ref: refOf(object), options: plainDelete }),
        );
      }
      const { remaining, records } = await this.#context.objects.list(resource, {
        prefix: collectionPrefix(definition),
        limit: 1,
      });
      if (remaining + records.length === 0) break;
      await clock.sleep(retryMs, this.#context.closing);
    }
    await ignoringMissing(
      changeObject(this.#context, this.#crds, {
        ref: { name },
        target: "object",
        change: (current) => ({
          ...current,
          metadata: {
            ...current.metadata,
            finalizers: (current.metadata.finalizers ?? []).filter(
              (finalizer) => finalizer !== cleanupFinalizer,
            ),
          },
        }),
      }),
    );
  }
}

type NewCondition = Omit<Condition, "lastTransitionTime">;

/** The server wrote them, so they are whole. */
function conditionsNow(crd: CustomResourceDefinition): readonly Condition[] {
  return (crd.status?.conditions ?? []) as readonly Condition[];
}

function conditionsOf(
  crd: CustomResourceDefinition,
  found: {
    readonly verdict: ReturnType<typeof decideNames>;
    readonly established: boolean;
    readonly now: number;
  },
): readonly Condition[] {
  const { conflict } = found.verdict;
  const named: NewCondition =
    conflict === undefined
      ? { type: "NamesAccepted", status: "True", reason: "NoConflicts", message: "no conflicts found" }
      : { type: "NamesAccepted", status: "False", reason: conflict.reason, message: conflict.message };
  // Once served it stays served: names that were granted are kept.
  const established: NewCondition =
    conflict === undefined || found.established
      ? {
          type: "Established",
          status: "True",
          reason: "InitialNamesAccepted",
          message: "the initial names have been accepted",
        }
      : {
          type: "Established",
          status: "False",
          reason: "NotAccepted",
          message: "not all names are accepted",
        };
  return [named, established].reduce((all, next) => setCondition(all, next, found.now), conditionsNow(crd));
}
