import {
  conflict,
  forbidden,
  formatTime,
  notFound,
  parseTime,
  serverTimeout,
  type Status,
  successStatus,
} from "@meridian/kube";
import type { HttpResponse } from "@meridian/runtime";
import type { ApiRequest } from "../http/api-request.ts";
import { respond } from "../http/respond.ts";
import type { ObjectRef } from "../objects/object-store.ts";
import { type ApiObject, groupResourceOf, type ServedResource } from "../resource/definition.ts";
import type { ApiContext } from "./api-context.ts";
import { attemptsMax, isReadyToGo } from "./change-object.ts";
import { type DeleteOptions, parseDeleteOptions } from "./delete-options.ts";
import { respondObject } from "./respond-object.ts";
import { refOfPath } from "./update.ts";

/** `DELETE` of an object. */
export async function serveDelete(context: ApiContext, request: ApiRequest): Promise<HttpResponse> {
  const options = parseDeleteOptions(request);
  const { resource } = request;
  const { object, gone } = await deleteObject(context, resource, { ref: refOfPath(request), options });
  if (!gone || resource.definition.rules.returnsDeleted) {
    const status = !gone && options.acceptedWhileGoing === true ? 202 : 200;
    return respondObject(context, request, { status, object });
  }
  return respond(200, deletedStatus(resource, object), { warnings: request.warnings });
}

/** kubectl waits for the object of this uid to go away. */
function deletedStatus(resource: ServedResource, object: ApiObject): Status {
  const { group, plural } = resource.definition;
  const { name = "", uid } = object.metadata;
  return successStatus({
    name,
    ...(group !== "" && { group }),
    kind: plural,
    ...(uid !== undefined && { uid }),
  });
}

export interface DeleteStep {
  readonly ref: ObjectRef;
  readonly options: DeleteOptions;
}

/**
 * Deletes an object: at once when nothing holds it, else by marking it and leaving the rest to its finalizers.
 * Deleting what is being deleted already changes nothing, save that a shorter grace period counts.
 *
 * @returns the object, and whether it is gone.
 * @throws StatusError 403, 404, 409.
 */
export async function deleteObject(
  context: ApiContext,
  resource: ServedResource,
  step: DeleteStep,
): Promise<{ readonly object: ApiObject; readonly gone: boolean }> {
  const { objects, runtime } = context;
  const { definition } = resource;
  const groupResource = groupResourceOf(definition);
  const refusal = definition.rules.refuseDeletion?.(step.ref.name);
  if (refusal !== undefined) throw forbidden(groupResource, step.ref.name, refusal);

  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const stored = await objects.read(resource, step.ref);
    if (stored === undefined) throw notFound(groupResource, step.ref.name);
    checkPreconditions(resource, stored.object, step.options);

    const marked = markDeleted(resource, stored.object, { options: step.options, now: runtime.clock.now() });
    const gone = isReadyToGo(resource, marked);
    if (step.options.dryRun) return { object: gone ? stored.object : marked, gone };
    if (gone) {
      if (await objects.remove(resource, stored)) return { object: stored.object, gone };
    } else if (marked === stored.object) {
      return { object: marked, gone };
    } else {
      const written = await objects.update(resource, marked, stored.record.modRevision);
      if (written !== undefined) return { object: written, gone };
    }
    // Another writer was faster, and with a resourceVersion among the preconditions the next round says so.
  }
  throw serverTimeout(groupResource, "delete");
}

function checkPreconditions(resource: ServedResource, object: ApiObject, options: DeleteOptions): void {
  const { uid, resourceVersion } = options.preconditions;
  const { metadata } = object;
  const problem =
    uid !== undefined && uid !== metadata.uid
      ? `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid ?? ""}). The object might have been deleted and then recreated`
      : resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion
        ? `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion ?? ""}). The object might have been modified`
        : undefined;
  if (problem !== undefined)
    throw conflict(groupResourceOf(resource.definition), metadata.name ?? "", problem);
}

/** The object with everything that a deletion sets. Returns the same object when it is marked already. Pure. */
function markDeleted(
  resource: ServedResource,
  object: ApiObject,
  request: { readonly options: DeleteOptions; readonly now: number },
): ApiObject {
  const { rules } = resource.definition;
  const { metadata } = object;
  const grace = Math.max(
    0,
    rules.gracePeriodSeconds === undefined ? 0 : rules.gracePeriodSeconds(object, graceOf(request.options)),
  );

  if (metadata.deletionTimestamp !== undefined) {
    const oldGrace = metadata.deletionGracePeriodSeconds ?? 0;
    if (grace >= oldGrace) return object;
    const asked = (parseTime(metadata.deletionTimestamp) ?? request.now) - oldGrace * 1_000;
    return {
      ...object,
      metadata: {
        ...metadata,
        deletionTimestamp: formatTime(asked + grace * 1_000),
        deletionGracePeriodSeconds: grace,
      },
    };
  }

  const finalizers = finalizersFor(metadata.finalizers ?? [], request.options);
  const { finalizers: _, ...rest } = metadata;
  const marked: ApiObject = {
    ...object,
    metadata: {
      ...rest,
      ...(finalizers.length > 0 && { finalizers }),
      deletionTimestamp: formatTime(request.now + grace * 1_000),
      deletionGracePeriodSeconds: grace,
      ...(metadata.generation !== undefined &&
        metadata.generation > 0 && { generation: metadata.generation + 1 }),
    },
  };
  return rules.beginDeletion?.(marked) ?? marked;
}

/** A negative grace period counts as one second. */
function graceOf(options: DeleteOptions): number | undefined {
  const { gracePeriodSeconds } = options;
  return gracePeriodSeconds !== undefined && gracePeriodSeconds < 0 ? 1 : gracePeriodSeconds;
}

/** How dependents are treated is kept as a finalizer until the garbage collector has seen to it. */
function finalizersFor(finalizers: readonly string[], options: DeleteOptions): readonly string[] {
  const others = finalizers.filter(
    (finalizer) => finalizer !== foregroundFinalizer && finalizer !== orphanFinalizer,
  );
  const policy = options.propagationPolicy;
  if (policy === undefined) return finalizers;
  switch (policy) {
    case "Background":
      return others;
    case "Foreground":
      return [...others, foregroundFinalizer];
    case "Orphan":
      return [...others, orphanFinalizer];
  }
}

export const foregroundFinalizer = "foregroundDeletion";
export const orphanFinalizer = "orphan";
