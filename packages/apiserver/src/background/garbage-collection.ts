import { isConflict, parseApiVersion, type OwnerReference } from "@meridian/kube";
import { type ObjectRef, rootKey } from "../objects/object-store.ts";
import type { ApiObject, ServedResource } from "../resource/definition.ts";
import type { ApiContext } from "../verbs/api-context.ts";
import { changeObject } from "../verbs/change-object.ts";
import { deleteObject, foregroundFinalizer, orphanFinalizer } from "../verbs/delete.ts";
import type { PropagationPolicy } from "../verbs/delete-options.ts";
import { Doorbell } from "../verbs/doorbell.ts";
import { followStore, type StoreStep } from "./follow-store.ts";
import { ignoringMissing } from "./ignoring-missing.ts";
import { type GraphNode, nodeOf, ObjectGraph } from "./object-graph.ts";

/** How long a failed look at an object is put off. */
const retryMs = 1_000;

/**
 * Deletes objects whose owners are all gone, and sees to deletions that wait for dependents. Runs until the server
 * closes.
 *
 * The graph follows the store and only says what to look at; every decision reads the objects again, and every write
 * names the uid and version that it was made for.
 */
export async function runGarbageCollection(context: ApiContext): Promise<void> {
  const collector = new Collector(context);
  await Promise.all([collector.follow(), collector.work()]);
}

class Collector {
  readonly #context: ApiContext;
  readonly #graph = new ObjectGraph();
  /** Keys to look at, in order of arrival. */
  readonly #queue = new Set<string>();
  /** Keys whose owners are of kinds that nobody serves: looked at again when that may have changed. */
  readonly #unresolved = new Set<string>();
  readonly #bell = new Doorbell();

  constructor(context: ApiContext) {
    this.#context = context;
  }

  async follow(): Promise<void> {
    for await (const step of followStore(this.#context, rootKey)) this.#apply(step);
    this.#bell.ring();
  }

  async work(): Promise<void> {
    const { closing, registry } = this.#context;
    registry.onChange(() => {
      for (const key of this.#unresolved) this.#add(key);
      this.#unresolved.clear();
    });
    closing.addEventListener("abort", () => this.#bell.ring(), { once: true });
    while (!closing.aborted) {
      const key = this.#queue.values().next().value;
      if (key === undefined) {
        await this.#bell.wait();
        continue;
      }
      this.#queue.delete(key);
      try {
        await this.#look(key);
      } catch (error) {
        if (closing.aborted) return;
        if (!isConflict(error))
          this.#context.runtime.log.warn("an object could not be collected", { key, error });
        this.#context.runtime.clock.after(retryMs, () => this.#add(key));
      }
    }
  }

  #apply(step: StoreStep): void {
    if (step.kind === "changes") {
      for (const event of step.events) {
        if (event.type === "put") this.#put(event.record.key, event.record);
        else this.#delete(event.key);
      }
      return;
    }
    const present = new Set(step.records.map(({ key }) => key));
    for (const key of [...this.#graph.keys()]) if (!present.has(key)) this.#delete(key);
    for (const record of step.records) this.#put(record.key, record);
  }

  #put(key: string, record: StepRecord): void {
    const folder = folderOf(key);
    const resource = this.#resourceOf(folder);
    if (resource === undefined) return;
    const node = nodeOf(this.#context.objects.decode(resource, record), { key, folder });
    const replaced = this.#graph.at(key);
    if (replaced !== undefined && replaced.uid !== node.uid) this.#delete(key);
    this.#graph.put(node);

    if (node.owners.length > 0 || node.deleting === "foreground" || node.deleting === "orphaning")
      this.#add(key);
    // An owner that begins to wait for its dependents, or a dependent that no longer holds it up.
    if (node.deleting === "foreground")
      for (const dependent of this.#graph.dependentsOf(node.uid)) this.#add(dependent.key);
    this.#wakeOwners(replaced);
  }

  #delete(key: string): void {
    const node = this.#graph.delete(key);
    this.#queue.delete(key);
    this.#unresolved.delete(key);
    if (node === undefined) return;
    for (const dependent of this.#graph.dependentsOf(node.uid)) this.#add(dependent.key);
    this.#wakeOwners(node);
  }

  #wakeOwners(dependent: GraphNode | undefined): void {
    for (const { uid } of dependent?.owners ?? []) {
      const owner = this.#graph.get(uid);
      if (owner?.deleting === "foreground") this.#add(owner.key);
    }
  }

  #add(key: string): void {
    this.#queue.add(key);
    this.#bell.ring();
  }

  async #look(key: string): Promise<void> {
    const node = this.#graph.at(key);
    const resource = node && this.#resourceOf(node.folder);
    if (node === undefined || resource === undefined) return;
    switch (node.deleting) {
      case "foreground":
        if (!this.#graph.dependentsOf(node.uid).some((dependent) => blocks(dependent, node.uid))) {
          await this.#removeFinalizer(resource, node, foregroundFinalizer);
        }
        return;
      case "orphaning":
        for (const dependent of this.#graph.dependentsOf(node.uid))
          await this.#dropOwners(dependent, new Set([node.uid]));
        await this.#removeFinalizer(resource, node, orphanFinalizer);
        return;
      case "plainly":
        return;
      case "no":
        if (node.owners.length > 0) await this.#collect(resource, node);
    }
  }

  /** Deletes a dependent that no owner keeps; drops references to owners that are gone while another keeps it. */
  async #collect(resource: ServedResource, node: GraphNode): Promise<void> {
    const stored = await this.#context.objects.read(resource, refOf(node));
    const { metadata } = stored?.object ?? { metadata: undefined };
    if (metadata === undefined || metadata.uid !== node.uid || metadata.deletionTimestamp !== undefined)
      return;

    const owners = metadata.ownerReferences ?? [];
    const states = await Promise.all(owners.map((owner) => this.#stateOf(owner, node)));
    if (states.includes("unknown")) this.#unresolved.add(node.key);
    if (owners.length === 0 || states.includes("unknown")) return;
    const gone = new Set(owners.filter((_, index) => states[index] !== "solid").map(({ uid }) => uid));
    if (states.includes("solid")) {
      if (gone.size > 0) await this.#dropOwners(node, gone);
      return;
    }

    const dependents = this.#graph.dependentsOf(node.uid);
    const waiting = states.includes("waiting");
    if (waiting && dependents.some(({ deleting }) => deleting === "foreground")) {
      // A circle of objects that wait for each other: this one no longer makes its owner wait.
      await this.#changeOwners(node, (all) => all.map((owner) => ({ ...owner, blockOwnerDeletion: false })));
    }
    const policy: PropagationPolicy =
      waiting && dependents.length > 0 ? "Foreground" : policyOf(metadata.finalizers ?? []);
    const current = await this.#context.objects.read(resource, refOf(node));
    const { resourceVersion } = current?.object.metadata ?? {};
    if (resourceVersion === undefined) return;
    await ignoringMissing(
      deleteObject(this.#context, resource, {
        ref: refOf(node),
        options: {
          dryRun: false,
          propagationPolicy: policy,
          preconditions: { uid: node.uid, resourceVersion },
        },
      }),
    );
  }

  /**
   * `gone`: there is no such object. `waiting`: it is being deleted and waits for its dependents. `unknown`: nobody
   * can tell, as its kind is not served, or a cluster-wide object names an owner in a namespace.
   */
  async #stateOf(
    owner: OwnerReference,
    dependent: GraphNode,
  ): Promise<"solid" | "gone" | "waiting" | "unknown"> {
    const { group, version } = parseApiVersion(owner.apiVersion);
    const resource = this.#context.registry.ofKind({ group, version, kind: owner.kind });
    if (resource === undefined) return "unknown";
    const { namespaced } = resource.definition;
    if (namespaced && dependent.namespace === undefined) return "unknown";
    const ref: ObjectRef =
      namespaced && dependent.namespace !== undefined
        ? { name: owner.name, namespace: dependent.namespace }
        : { name: owner.name };
    const stored = await this.#context.objects.read(resource, ref);
    const { metadata } = stored?.object ?? { metadata: undefined };
    if (metadata === undefined || metadata.uid !== owner.uid) return "gone";
    const waits =
      metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(foregroundFinalizer);
    return waits ? "waiting" : "solid";
  }

  async #dropOwners(node: GraphNode, gone: ReadonlySet<string>): Promise<void> {
    await this.#changeOwners(node, (owners) => owners.filter(({ uid }) => !gone.has(uid)));
  }

  async #changeOwners(
    node: GraphNode,
    change: (owners: readonly OwnerReference[]) => readonly OwnerReference[],
  ): Promise<void> {
    const resource = this.#resourceOf(node.folder);
    if (resource === undefined) return;
    await this.#changeMetadata(resource, node, (object) => {
      const { ownerReferences = [], ...metadata } = object.metadata;
      const left = change(ownerReferences);
      return { ...object, metadata: { ...metadata, ...(left.length > 0 && { ownerReferences: left }) } };
    });
  }

  async #removeFinalizer(resource: ServedResource, node: GraphNode, finalizer: string): Promise<void> {
    await this.#changeMetadata(resource, node, (object) => {
      const { finalizers = [], ...metadata } = object.metadata;
      const left = finalizers.filter((other) => other !== finalizer);
      return { ...object, metadata: { ...metadata, ...(left.length > 0 && { finalizers: left }) } };
    });
  }

  async #changeMetadata(
    resource: ServedResource,
    node: GraphNode,
    change: (object: ApiObject) => ApiObject,
  ): Promise<void> {
    await ignoringMissing(
      changeObject(this.#context, resource, {
        ref: refOf(node),
        target: "object",
        // Another object of the same name is none of our business.
        change: (current) => (current.metadata.uid === node.uid ? change(current) : current),
      }),
    );
  }

  #resourceOf(folder: string): ServedResource | undefined {
    return this.#context.registry.ofFolder(folder);
  }
}

type StepRecord = Extract<StoreStep, { kind: "state" }>["records"][number];

function folderOf(key: string): string {
  return key.slice(rootKey.length).split("/").slice(0, 2).join("/");
}

function refOf({ name, namespace }: GraphNode): ObjectRef {
  return namespace === undefined ? { name } : { name, namespace };
}

function blocks(dependent: GraphNode, ownerUid: string): boolean {
  return dependent.owners.some(
    ({ blockOwnerDeletion, uid }) => uid === ownerUid && blockOwnerDeletion === true,
  );
}

/** Finalizers that an object has already say how its own dependents are to be treated. */
function policyOf(finalizers: readonly string[]): PropagationPolicy {
  if (finalizers.includes(orphanFinalizer)) return "Orphan";
  return finalizers.includes(foregroundFinalizer) ? "Foreground" : "Background";
}
