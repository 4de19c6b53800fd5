import {
  conflict,
  deepEqual,
  formatTime,
  invalid,
  invalidValue,
  notFound,
  type ObjectMeta,
  serverTimeout,
} from "@meridian/kube";
import { recordUpdate } from "../apply/record-update.ts";
import type { Warnings } from "../http/warnings.ts";
import type { ObjectRef } from "../objects/object-store.ts";
import { type ApiObject, groupResourceOf, type ServedResource } from "../resource/definition.ts";
import type { ApiContext } from "./api-context.ts";
import { warnOfFinalizers } from "./finalizer-warnings.ts";
import { shapeObject, validateObject } from "./shape-object.ts";

/** Which part of an object a write may change. */
export type WriteTarget = "object" | "status" | "finalize";

export interface ChangeStep {
  readonly ref: ObjectRef;
  readonly target: WriteTarget;
  /**
   * What the client wants the object to be, given what it is. The metadata's resourceVersion and uid are what the
   * client saw; a result that names others fails. Called again after a lost race. May throw.
   */
  readonly change: (current: ApiObject) => ApiObject;
  /** Whether the result of `change` must name a resourceVersion where the kind demands one: true for PUT. */
  readonly needsVersion?: boolean;
  readonly dryRun?: boolean;
  /** Who the managed fields are recorded for; left as they are when absent. */
  readonly fieldManager?: string;
  /** Where to put what the client should know of besides. */
  readonly warnings?: Warnings;
}

/**
 * Reads, changes and writes an object, and again when another writer was faster and the client named no version.
 * A change that changes nothing is not written. Emptying the finalizers of an object that is being deleted removes it.
 *
 * @returns the object as it now is, or as it was wanted when that removed it.
 * @throws StatusError 404, 409, 422.
 */
export async function changeObject(
  context: ApiContext,
  resource: ServedResource,
  step: ChangeStep,
): Promise<ApiObject> {
  const { objects, runtime } = context;
  const groupResource = groupResourceOf(resource.definition);
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const stored = await objects.read(resource, step.ref);
    if (stored === undefined) throw notFound(groupResource, step.ref.name);
    const old = stored.object;
    const wanted = step.change(old);
    checkSeen(resource, wanted, { old, needsVersion: step.needsVersion === true });

    const combined = combine(resource, wanted, { old, target: step.target });
    const shaped = withGeneration(resource, shapeObject(resource, combined, old), old);
    const next =
      step.fieldManager === undefined
        ? shaped
        : recordUpdate(resource, shaped, {
            old,
            manager: step.fieldManager,
            time: formatTime(runtime.clock.now()),
            ...(step.target !== "object" && { subresource: step.target }),
          });
    if (sameObject(next, old)) return old;
    validateObject(resource, next, {
      old,
      statusOnly: step.target === "status" && resource.definition.custom,
      wholeBody: step.needsVersion === true,
    });
    if (step.warnings !== undefined) warnOfFinalizers(resource, { object: next, old }, step.warnings);
    if (step.dryRun === true) return next;

    if (isReadyToGo(resource, next)) {
      if (await objects.remove(resource, stored)) return next;
    } else {
      const written = await objects.update(resource, next, stored.record.modRevision);
      if (written !== undefined) return written;
    }
  }
  throw serverTimeout(groupResource, "update");
}

/** Each lost race means that another writer succeeded, so this many in a row is an overload. */
export const attemptsMax = 1_000;

/** True for an object that is being deleted and that nothing holds any more. */
export function isReadyToGo(resource: ServedResource, object: ApiObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata;
  return (
    deletionTimestamp !== undefined &&
    finalizers.length === 0 &&
    deletionGracePeriodSeconds === 0 &&
    resource.definition.rules.holdsDeletion?.(object) !== true
  );
}

/** A write names what it saw: the version, and the uid of the object. */
function checkSeen(
  resource: ServedResource,
  wanted: ApiObject,
  options: { readonly old: ApiObject; readonly needsVersion: boolean },
): void {
  const { definition } = resource;
  const { old } = options;
  const name = old.metadata.name ?? "";
  const { resourceVersion = "", uid } = wanted.metadata;
  if (uid !== undefined && uid !== old.metadata.uid) {
    throw conflict(
      groupResourceOf(definition),
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid ?? ""}`,
    );
  }
  if (resourceVersion === "" || resourceVersion === "0") {
    if (!options.needsVersion || definition.rules.allowsUnconditionalUpdate) return;
    throw invalid({ group: definition.group, kind: definition.kind }, name, [
      invalidValue("metadata.resourceVersion", 0, "must be specified for an update"),
    ]);
  }
  if (resourceVersion !== old.metadata.resourceVersion) throw conflict(groupResourceOf(definition), name);
}

/** What the write may change comes from the wanted object, everything else from the old one. */
function combine(
  resource: ServedResource,
  wanted: ApiObject,
  options: { readonly old: ApiObject; readonly target: WriteTarget },
): ApiObject {
  const { definition, version } = resource;
  const { old, target } = options;
  const metadata = keepServerFields(wanted.metadata, old.metadata);
  switch (target) {
    case "object": {
      const object = { ...wanted, apiVersion: old.apiVersion, kind: old.kind, metadata };
      const kept = version.hasStatus ? withField(object, "status", old["status"]) : object;
      return definition.rules.keepOnUpdate?.(kept, old) ?? kept;
    }
    case "status": {
      const kept = definition.rules.statusTakesMetadata
        ? {
            ...old.metadata,
            ...pick(metadata, "labels"),
            ...pick(metadata, "annotations"),
            ...pick(metadata, "managedFields"),
          }
        : { ...old.metadata, ...pick(metadata, "managedFields") };
      return withField({ ...old, metadata: kept }, "status", wanted["status"]);
    }
    case "finalize": {
      const finalizers = (wanted["spec"] as { readonly finalizers?: unknown } | undefined)?.finalizers;
      const { finalizers: _, ...spec } = (old["spec"] ?? {}) as Readonly<Record<string, unknown>>;
      return withField(old, "spec", finalizers === undefined ? spec : { ...spec, finalizers });
    }
  }
}

function keepServerFields(wanted: ObjectMeta, old: ObjectMeta): ObjectMeta {
  const kept: { -readonly [Field in keyof ObjectMeta]: ObjectMeta[Field] } = { ...wanted };
  for (const field of [
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
  ] as const) {
    if (kept[field] === undefined && old[field] !== undefined) Object.assign(kept, { [field]: old[field] });
  }
  delete kept.generation;
  if (old.generation !== undefined) kept.generation = old.generation;
  delete kept.resourceVersion;
  if (old.resourceVersion !== undefined) kept.resourceVersion = old.resourceVersion;
  return kept;
}

/** +1 when anything outside metadata and status changes (API conventions, "Metadata"). */
function withGeneration(resource: ServedResource, object: ApiObject, old: ApiObject): ApiObject {
  if (!resource.definition.rules.tracksGeneration || deepEqual(specified(object), specified(old)))
    return object;
  return { ...object, metadata: { ...object.metadata, generation: (old.metadata.generation ?? 0) + 1 } };
}

function specified(object: ApiObject): unknown {
  const { apiVersion: _, kind: __, metadata: ___, status: ____, ...rest } = object;
  return rest;
}

/** Times of managed fields alone are no change. */
function sameObject(a: ApiObject, b: ApiObject): boolean {
  return deepEqual(withoutTimes(a), withoutTimes(b));
}

function withoutTimes(object: ApiObject): unknown {
  const { managedFields } = object.metadata;
  if (managedFields === undefined) return object;
  const timeless = managedFields.map((entry) => ({ ...(entry as object), time: undefined }));
  return { ...object, metadata: { ...object.metadata, managedFields: timeless } };
}

function withField(object: ApiObject, field: string, value: unknown): ApiObject {
  const { [field]: _, ...rest } = object;
  return { ...(rest as ApiObject), ...(value !== undefined && value !== null && { [field]: value }) };
}

function pick(metadata: ObjectMeta, field: "labels" | "annotations" | "managedFields"): Partial<ObjectMeta> {
  return { [field]: metadata[field] };
}
