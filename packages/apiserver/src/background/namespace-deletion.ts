import { setCondition, type Condition } from "@meridian/kube";
import { collectionPrefix, refOf, type StoredObject } from "../objects/object-store.ts";
import { type ApiObject, asObject, type ServedResource } from "../resource/definition.ts";
import type { ApiContext } from "../verbs/api-context.ts";
import { changeObject } from "../verbs/change-object.ts";
import { deleteObject } from "../verbs/delete.ts";
import { followStore } from "./follow-store.ts";
import { ignoringMissing } from "./ignoring-missing.ts";

/** The namespace controller's own finalizer, in `spec.finalizers`. */
const namespaceFinalizer = "kubernetes";
/** How often a namespace is looked at again whose content waits for finalizers of its own. */
const retryMs = 250;
/** How long a failed attempt is put off. */
const failureRetryMs = 1_000;

/** Empties namespaces that are being deleted, then lets them go. Runs until the server closes. */
export async function runNamespaceDeletion(context: ApiContext): Promise<void> {
  const namespaces = context.registry.served({ group: "", version: "v1", plural: "namespaces" });
  if (namespaces === undefined) return;
  const emptying = new Map<string, Promise<void>>();
  for await (const step of followStore(context, collectionPrefix(namespaces.definition))) {
    const records =
      step.kind === "state"
        ? step.records
        : step.events.flatMap((event) => (event.type === "put" ? [event.record] : []));
    for (const record of records) {
      const { metadata } = context.objects.decode(namespaces, record);
      const { deletionTimestamp, name = "" } = metadata;
      if (deletionTimestamp === undefined || emptying.has(name)) continue;
      const task = untilEmptied(context, namespaces, name).finally(() => emptying.delete(name));
      emptying.set(name, task);
    }
  }
  await Promise.all(emptying.values());
}

/** Never rejects. A store that is busy or full for a moment must not leave a namespace in its deletion for good. */
async function untilEmptied(context: ApiContext, namespaces: ServedResource, name: string): Promise<void> {
  const { closing, runtime } = context;
  while (!closing.aborted) {
    try {
      return await emptyNamespace(context, namespaces, name);
    } catch (error) {
      if (closing.aborted) return;
      runtime.log.warn("a namespace could not be emptied; trying again", { namespace: name, error });
      await runtime.clock.sleep(failureRetryMs, closing).catch(() => {});
    }
  }
}

/** What is left is deleted again and again: content may wait for finalizers, and a late create may have slipped in. */
async function emptyNamespace(context: ApiContext, namespaces: ServedResource, name: string): Promise<void> {
  let barrier = false;
  for (;;) {
    const namespace = await context.objects.read(namespaces, { name });
    if (namespace?.object.metadata.deletionTimestamp === undefined) return;
    const left = await deleteContent(context, name);
    await ignoringMissing(
      changeObject(context, namespaces, {
        ref: { name },
        target: "status",
        change: (current) => withConditions(current, left, context.runtime.clock.now()),
      }),
    );
    // A create that saw the namespace before it was marked may still have been under way to the disk. The write of the
    // conditions came after it, so the next look sees it.
    if (left.length === 0 && barrier) break;
    barrier = true;
    if (left.length > 0) await context.runtime.clock.sleep(retryMs, context.closing);
  }
  await ignoringMissing(
    changeObject(context, namespaces, {
      ref: { name },
      target: "finalize",
      change: (current) => {
        const spec = current["spec"] as { readonly finalizers?: readonly string[] } | undefined;
        const finalizers = (spec?.finalizers ?? []).filter((finalizer) => finalizer !== namespaceFinalizer);
        return { ...current, spec: { ...spec, finalizers } };
      },
    }),
  );
}

/** Deletes everything in a namespace, pods before anything else. Returns what is still there afterwards. */
async function deleteContent(context: ApiContext, namespace: string): Promise<readonly StoredObject[]> {
  const resources = namespacedResources(context);
  const pods = resources.filter(({ definition }) => definition.group === "" && definition.plural === "pods");
  const podsLeft = await deleteAll(context, namespace, pods);
  if (podsLeft.length > 0) return podsLeft;
  return deleteAll(context, namespace, resources);
}

async function deleteAll(
  context: ApiContext,
  namespace: string,
  resources: readonly ServedResource[],
): Promise<readonly StoredObject[]> {
  const left: StoredObject[] = [];
  for (const resource of resources) {
    const prefix = collectionPrefix(resource.definition, namespace);
    for (const { object } of (await context.objects.list(resource, { prefix })).objects) {
      await ignoringMissing(
        deleteObject(context, resource, {
          ref: refOf(object),
          options: { dryRun: false, propagationPolicy: "Background", preconditions: {} },
        }),
      );
    }
    left.push(...(await context.objects.list(resource, { prefix })).objects);
  }
  return left;
}

/** One resource for each folder of the store: two groups may serve the same objects. */
function namespacedResources(context: ApiContext): readonly ServedResource[] {
  const byFolder = new Map<string, ServedResource>();
  for (const definition of context.registry.all()) {
    const version = definition.versions[0];
    if (!definition.namespaced || version === undefined || byFolder.has(definition.stored.folder)) continue;
    byFolder.set(definition.stored.folder, { definition, version });
  }
  return [...byFolder.values()];
}

function withConditions(namespace: ApiObject, left: readonly StoredObject[], now: number): ApiObject {
  const status = (namespace["status"] ?? {}) as { readonly conditions?: readonly Condition[] };
  const waiting = left.filter(({ object }) => (object.metadata.finalizers ?? []).length > 0);
  const wanted: readonly NewCondition[] = [
    condition("NamespaceDeletionDiscoveryFailure", "False", [
      "ResourcesDiscovered",
      "All resources successfully discovered",
    ]),
    condition("NamespaceDeletionGroupVersionParsingFailure", "False", [
      "ParsedGroupVersions",
      "All legacy kube types successfully parsed",
    ]),
    condition("NamespaceDeletionContentFailure", "False", [
      "ContentDeleted",
      "All content successfully deleted, may be waiting on finalization",
    ]),
    left.length === 0
      ? condition("NamespaceContentRemaining", "False", [
          "ContentRemoved",
          "All content successfully removed",
        ])
      : condition("NamespaceContentRemaining", "True", [
          "SomeResourcesRemain",
          `Some resources are remaining: ${counted(left.map(({ object }) => object.kind))}`,
        ]),
    waiting.length === 0
      ? condition("NamespaceFinalizersRemaining", "False", [
          "ContentHasNoFinalizers",
          "All content-preserving finalizers finished",
        ])
      : condition("NamespaceFinalizersRemaining", "True", [
          "SomeFinalizersRemain",
          `Some content in the namespace has finalizers remaining: ${counted(waiting.flatMap(({ object }) => object.metadata.finalizers ?? []))}`,
        ]),
  ];
  const conditions = wanted.reduce((all, next) => setCondition(all, next, now), status.conditions ?? []);
  return asObject({ ...namespace, status: { ...status, conditions } });
}

type NewCondition = Omit<Condition, "lastTransitionTime">;

function condition(
  type: string,
  status: "True" | "False",
  [reason, message]: readonly [string, string],
): NewCondition {
  return { type, status, reason, message };
}

function counted(words: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].map(([word, count]) => `${word} has ${count} resource instances`).join(", ");
}
