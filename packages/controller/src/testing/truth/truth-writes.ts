import {
  alreadyExists,
  apiVersionOf,
  applyJsonPatch,
  applyMergePatch,
  badRequest,
  conflict,
  deepEqual,
  formatTime,
  invalid,
  notFound,
  unsupportedMediaType,
} from "@meridian/kube";
import type { Json, KubeObject } from "@meridian/kube";
import { jsonBody } from "./truth-request.ts";
import type { TruthRequest } from "./truth-request.ts";

/** An object with the halves that servers treat apart. */
interface WritableObject extends KubeObject {
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** What a new object gets from its server. */
export interface Creation {
  readonly uid: string;
  readonly nowMs: number;
}

/** The object of a POST, as it is to be stored. @throws StatusError */
export function createdObject(
  request: TruthRequest,
  present: (key: { readonly name: string }) => KubeObject | undefined,
  creation: Creation,
): KubeObject {
  const sent = sentObject(request, jsonBody(request));
  const { generateName } = sent.metadata;
  const name =
    sent.metadata.name ?? (generateName === undefined ? "" : `${generateName}${creation.uid.slice(-5)}`);
  if (name === "") throw badRequest("name or generateName is required");
  if (sent.metadata.resourceVersion !== undefined) {
    throw badRequest("resourceVersion should not be set on objects to be created");
  }
  if (present({ name }) !== undefined) throw alreadyExists(request.type, name);
  return newObject(sent, { name, ...creation });
}

/** The object of a PUT. @throws StatusError */
export function updatedObject(request: TruthRequest, before: KubeObject | undefined): KubeObject {
  const sent = sentObject(request, jsonBody(request));
  if (before === undefined) throw notFound(request.type, request.name ?? "");
  return changedObject(request, before, sent);
}

/** The object of a PATCH; one that is applied may be new. @throws StatusError */
export function patchedObject(
  request: TruthRequest,
  before: KubeObject | undefined,
  creation: Creation,
): KubeObject {
  const patch = jsonBody(request) as Json;
  const applied = request.contentType === "application/apply-patch+yaml";
  if (before === undefined) {
    if (!applied) throw notFound(request.type, request.name ?? "");
    return newObject(sentObject(request, patch), { name: request.name ?? "", ...creation });
  }
  const { resourceVersion: _seen, ...metadata } = before.metadata;
  const base = { ...before, metadata } as unknown as Json;
  switch (request.contentType) {
    case "application/json-patch+json":
      return changedObject(request, before, sentObject(request, applyJsonPatch(base, patch)));
    case "application/merge-patch+json":
    case "application/strategic-merge-patch+json":
    case "application/apply-patch+yaml":
      return changedObject(request, before, sentObject(request, applyMergePatch(base, patch)));
    default:
      throw unsupportedMediaType(["application/json-patch+json", "application/merge-patch+json"]);
  }
}

function newObject(sent: KubeObject, { name, uid, nowMs }: Creation & { readonly name: string }): KubeObject {
  const { managedFields: _, generateName: _generateName, ...metadata } = sent.metadata;
  const generation = "spec" in sent ? { generation: 1 } : {};
  return {
    ...sent,
    metadata: { ...metadata, name, uid, creationTimestamp: formatTime(nowMs), ...generation },
  };
}

/** What becomes of `before`: only the half that was addressed changes. Returns `before` itself where nothing does. */
function changedObject(request: TruthRequest, before: WritableObject, sent: WritableObject): KubeObject {
  const { type, name = "" } = request;
  const { uid, resourceVersion } = sent.metadata;
  if (uid !== undefined && uid !== before.metadata.uid) {
    throw conflict(
      type,
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${before.metadata.uid}`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== before.metadata.resourceVersion)
    throw conflict(type, name);
  const { managedFields: _, ...metadata } = sent.metadata;
  const kept = { ...metadata, ...ownedByServer(before) };
  let after: WritableObject;
  if (request.subresource === "status") {
    after = { ...before, status: sent.status };
  } else {
    const { status: _status, ...rest } = sent;
    const status = before.status === undefined ? {} : { status: before.status };
    after = { ...rest, ...status, metadata: kept };
    const generation = before.metadata.generation;
    if (generation !== undefined && !deepEqual(before.spec, after.spec)) {
      after = { ...after, metadata: { ...kept, generation: generation + 1 } };
    }
  }
  return deepEqual(after, before) ? before : after;
}

/** Metadata that no client changes. */
function ownedByServer({ metadata }: KubeObject): Partial<KubeObject["metadata"]> {
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp, generation } =
    metadata;
  const fields = { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp, generation };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The object that a body means, with its kind and its place. @throws StatusError 400, 422 */
function sentObject(request: TruthRequest, value: unknown): WritableObject {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw badRequest("the body is no object");
  const { type, namespace, name } = request;
  const sent = value as Partial<WritableObject>;
  const kind = sent.kind ?? type.kind;
  const apiVersion = sent.apiVersion ?? apiVersionOf(type);
  if (kind !== type.kind || apiVersion !== apiVersionOf(type)) {
    throw badRequest(
      `${apiVersion} ${kind} in the body is not ${apiVersionOf(type)} ${type.kind}, which the URL means`,
    );
  }
  const metadata = {
    ...sent.metadata,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  };
  if (sent.metadata?.name !== undefined && name !== undefined && sent.metadata.name !== name) {
    throw badRequest(
      `the name of the object (${sent.metadata.name}) does not match the name on the URL (${name})`,
    );
  }
  const object = { ...sent, apiVersion, kind, metadata };
  if (kind === "Lease") checkMicroTimes(object);
  return object;
}

/** kube-apiserver takes six decimals and no other number of them. */
function checkMicroTimes(object: WritableObject): void {
  const spec = (object.spec ?? {}) as Readonly<Record<string, unknown>>;
  for (const field of ["acquireTime", "renewTime"]) {
    const time = spec[field];
    if (time === undefined || (typeof time === "string" && /\.\d{6}(?:Z|[+-]\d\d:\d\d)$/.test(time)))
      continue;
    throw badRequest(
      `Lease in version "v1" cannot be handled as a Lease: parsing time ${JSON.stringify(time)} as MicroTime`,
    );
  }
  const seconds = spec["leaseDurationSeconds"];
  if (seconds !== undefined && !(Number.isInteger(seconds) && Number(seconds) > 0)) {
    const message = `Invalid value: ${JSON.stringify(seconds)}: must be greater than 0`;
    throw invalid({ group: "coordination.k8s.io", kind: "Lease" }, object.metadata.name ?? "", [
      { reason: "FieldValueInvalid", message, field: "spec.leaseDurationSeconds" },
    ]);
  }
}
