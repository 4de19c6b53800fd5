import {
  alreadyExists,
  badRequest,
  formatTime,
  generatedName,
  generateNameConflict,
  invalid,
  methodNotAllowed,
  namespaceTerminating,
  notFound,
  type OwnerReference,
  required,
} from "@meridian/kube";
import type { HttpResponse } from "@meridian/runtime";
import { recordUpdate } from "../apply/record-update.ts";
import type { ApiRequest } from "../http/api-request.ts";
import { decodeBody } from "../http/body.ts";
import type { Warnings } from "../http/warnings.ts";
import { refOf } from "../objects/object-store.ts";
import { type ApiObject, groupResourceOf, type ServedResource } from "../resource/definition.ts";
import type { ApiContext } from "./api-context.ts";
import { checkFields, objectOfBody } from "./decode-object.ts";
import { warnOfFinalizers } from "./finalizer-warnings.ts";
import { respondObject } from "./respond-object.ts";
import { shapeObject, validateObject } from "./shape-object.ts";
import { parseWriteOptions } from "./write-options.ts";

/** `POST` on a collection. */
export async function serveCreate(context: ApiContext, request: ApiRequest): Promise<HttpResponse> {
  const options = parseWriteOptions(request, "create");
  const decoded = decodeBody(request.http);
  checkFields(request, decoded, options);
  const object = objectOfBody(request, decoded.value);
  const owners = withoutDuplicateOwners(object);
  if (owners !== object)
    request.warnings.add(
      "metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests",
    );
  const created = await createObject(context, request.resource, {
    object: owners,
    dryRun: options.dryRun,
    fieldManager: options.fieldManager,
    warnings: request.warnings,
  });
  return respondObject(context, request, { status: 201, object: created });
}

export interface CreateStep {
  /** With the namespace it shall live in; server-owned metadata is replaced. */
  readonly object: ApiObject;
  readonly dryRun?: boolean;
  /** Who the managed fields are recorded for; nobody when absent. */
  readonly fieldManager?: string;
  /** Where to put what the client should know of besides. */
  readonly warnings?: Warnings;
}

/**
 * Creates an object. With `generateName` it looks for a free name, at most eight times.
 *
 * @throws StatusError 400, 403, 404 (namespace), 405, 409, 422.
 */
export async function createObject(
  context: ApiContext,
  resource: ServedResource,
  step: CreateStep,
): Promise<ApiObject> {
  const { definition } = resource;
  if (definition.terminating === true) throw methodNotAllowed(groupResourceOf(definition), "create");
  if ((step.object.metadata.resourceVersion ?? "") !== "") {
    throw badRequest("resourceVersion should not be set on objects to be created");
  }
  await checkNamespace(context, resource, step.object);

  const { name, generateName } = step.object.metadata;
  if (name === undefined && generateName === undefined) {
    throw invalid({ group: definition.group, kind: definition.kind }, "", [
      required("metadata.name", "name or generateName is required"),
    ]);
  }
  const generated = name === undefined;
  let lastName = "";
  for (let attempt = 0; attempt < (generated ? generateAttemptsMax : 1); attempt++) {
    lastName = name ?? generatedName(generateName ?? "", () => context.runtime.random.float());
    const object = newObject(context, resource, { ...step, name: lastName });
    if (step.warnings !== undefined) warnOfFinalizers(resource, { object, old: undefined }, step.warnings);
    if (step.dryRun === true) {
      if ((await context.objects.read(resource, refOf(object))) === undefined) return object;
      continue;
    }
    const created = await context.objects.create(resource, object);
    if (created !== undefined) return created;
  }

  if (generated) throw generateNameConflict(groupResourceOf(definition), lastName);
  const existing = await context.objects.read(resource, { ...refOf(step.object), name: lastName });
  const deleting = existing?.object.metadata.deletionTimestamp !== undefined;
  throw alreadyExists(groupResourceOf(definition), lastName, { deleting });
}

const generateAttemptsMax = 8;

function newObject(
  context: ApiContext,
  resource: ServedResource,
  step: CreateStep & { readonly name: string },
): ApiObject {
  const { runtime } = context;
  const { definition, version } = resource;
  const {
    resourceVersion: _rv,
    deletionTimestamp: _dt,
    deletionGracePeriodSeconds: _dg,
    generation: _g,
    creationTimestamp: _ct,
    uid: _uid,
    ...given
  } = step.object.metadata;
  const { status, ...specified } = step.object;
  const object = shapeObject(
    resource,
    {
      ...specified,
      apiVersion: step.object.apiVersion,
      kind: step.object.kind,
      metadata: {
        ...given,
        name: step.name,
        uid: runtime.random.uuid(),
        creationTimestamp: formatTime(runtime.clock.now()),
        ...(definition.rules.tracksGeneration && { generation: 1 }),
      },
      ...(!version.hasStatus && status !== undefined && { status }),
    },
    undefined,
  );
  const tracked =
    step.fieldManager === undefined
      ? object
      : recordUpdate(resource, object, {
          old: undefined,
          manager: step.fieldManager,
          time: formatTime(runtime.clock.now()),
        });
  validateObject(resource, tracked, { old: undefined, wholeBody: true });
  return tracked;
}

/** New content needs a namespace that exists and stays (API concepts, "Namespaces"). */
async function checkNamespace(
  context: ApiContext,
  resource: ServedResource,
  object: ApiObject,
): Promise<void> {
  const { definition } = resource;
  if (!definition.namespaced) return;
  const { namespace = "", name = "" } = object.metadata;
  const namespaces = context.registry.served({ group: "", version: "v1", plural: "namespaces" });
  if (namespaces === undefined) return;
  const found = namespace === "" ? undefined : await context.objects.read(namespaces, { name: namespace });
  if (found === undefined) throw notFound({ group: "", plural: "namespaces" }, namespace);
  if (found.object.metadata.deletionTimestamp !== undefined) {
    throw namespaceTerminating(groupResourceOf(definition), name, namespace);
  }
}

function ownerText(owner: OwnerReference): string {
  const { apiVersion, kind, name, uid, controller, blockOwnerDeletion } = owner;
  return JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion]);
}

function withoutDuplicateOwners(object: ApiObject): ApiObject {
  const owners = object.metadata.ownerReferences ?? [];
  const kept = [...new Map(owners.map((owner) => [ownerText(owner), owner])).values()];
  return kept.length === owners.length
    ? object
    : { ...object, metadata: { ...object.metadata, ownerReferences: kept } };
}
