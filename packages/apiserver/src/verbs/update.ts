import { badRequest } from "@meridian/kube";
import type { HttpResponse } from "@meridian/runtime";
import type { ApiRequest } from "../http/api-request.ts";
import { decodeBody } from "../http/body.ts";
import type { ApiContext } from "./api-context.ts";
import { changeObject, type WriteTarget } from "./change-object.ts";
import { createObject } from "./create.ts";
import { checkFields, objectOfBody } from "./decode-object.ts";
import { respondObject } from "./respond-object.ts";
import { parseWriteOptions } from "./write-options.ts";

/** `PUT` of an object, its status, or a namespace's finalizers. */
export async function serveUpdate(context: ApiContext, request: ApiRequest): Promise<HttpResponse> {
  const options = parseWriteOptions(request, "update");
  const decoded = decodeBody(request.http);
  checkFields(request, decoded, options);
  const object = objectOfBody(request, decoded.value);
  if (object.metadata.name === undefined)
    throw badRequest("the name of the object must be given in metadata.name");

  const { resource } = request;
  const target = writeTargetOf(request);
  const ref = refOfPath(request);
  if (target === "object" && resource.definition.rules.allowsCreateOnUpdate) {
    if ((await context.objects.read(resource, ref)) === undefined && !object.metadata.resourceVersion) {
      request.requireVerb("create");
      const created = await createObject(context, resource, {
        object,
        dryRun: options.dryRun,
        fieldManager: options.fieldManager,
        warnings: request.warnings,
      });
      return respondObject(context, request, { status: 201, object: created });
    }
  }
  const updated = await changeObject(context, resource, {
    ref,
    target,
    change: () => object,
    needsVersion: true,
    dryRun: options.dryRun,
    fieldManager: options.fieldManager,
    warnings: request.warnings,
  });
  return respondObject(context, request, { status: 200, object: updated });
}

/** The object that the path names. */
export function refOfPath(request: ApiRequest): { readonly name: string; readonly namespace?: string } {
  const { name = "", namespace } = request.path;
  return namespace === undefined ? { name } : { name, namespace };
}

/** Which part of the object the path names. */
export function writeTargetOf(request: ApiRequest): WriteTarget {
  const { subresource } = request.path;
  return subresource === "status" || subresource === "finalize" ? subresource : "object";
}
