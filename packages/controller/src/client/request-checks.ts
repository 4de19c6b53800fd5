import type { KubeObject, ResourceType } from "@meridian/kube";
import { ApiError } from "./api-error.ts";
import type { RequestSubject } from "./request-subject.ts";
import type { ObjectRef } from "./resource-path.ts";
import { isWhole, unknownFieldsOf } from "./unknown-fields.ts";

/**
 * An empty name would turn `delete` of an object into that of its collection, so it never leaves this client.
 *
 * @throws ApiError `InvalidRequest`
 */
export function checkReference(type: ResourceType, ref: ObjectRef, subject: RequestSubject): void {
  if (ref.name === "" || ref.name === "." || ref.name === "..") {
    const message = `${JSON.stringify(ref.name)} is no name`;
    throw new ApiError({ subject, reason: "InvalidRequest", message });
  }
  checkNamespace(type, ref, subject);
}

/** @throws ApiError `InvalidRequest` where a namespaced type has no namespace */
export function checkNamespace(
  type: ResourceType,
  { namespace = "" }: { readonly namespace?: string | undefined },
  subject: RequestSubject,
): void {
  if (!type.namespaced || namespace !== "") return;
  const message = `${type.kind} is namespaced; give a namespace`;
  throw new ApiError({ subject, reason: "InvalidRequest", message });
}

/**
 * Whoever replaces an object by what has only a part of its fields takes the others away.
 *
 * @throws ApiError `InvalidRequest`
 */
export function checkWhole(object: KubeObject, subject: RequestSubject): void {
  if (isWhole(object)) return;
  const message = `the object comes from a copy that leaves out ${unknownFieldsOf(object)} of its fields; read it by get, or patch it`;
  throw new ApiError({ subject, reason: "InvalidRequest", message });
}
