import { badRequest, conflict, formatTime, isAlreadyExists, isNotFound } from "@meridian/kube";
import type { HttpResponse } from "@meridian/runtime";
import type { ApiRequest } from "../http/api-request.ts";
import { bodyText, decodeYamlText } from "../http/body.ts";
import { type ApiObject, groupResourceOf } from "../resource/definition.ts";
import type { ApiContext } from "../verbs/api-context.ts";
import { changeObject } from "../verbs/change-object.ts";
import { createObject } from "../verbs/create.ts";
import { checkFields, objectOfBody } from "../verbs/decode-object.ts";
import { respondObject } from "../verbs/respond-object.ts";
import { refOfPath, writeTargetOf } from "../verbs/update.ts";
import type { WriteOptions } from "../verbs/write-options.ts";
import { applyConfiguration, type Application } from "./apply-configuration.ts";

/** How often an object that comes and goes between look and write is tried again. */
const attemptsMax = 5;

/** Server-side apply: `PATCH` with a configuration; creates what does not exist. */
export async function serveApply(
  context: ApiContext,
  request: ApiRequest,
  options: WriteOptions,
): Promise<HttpResponse> {
  const { resource } = request;
  const decoded = decodeYamlText(bodyText(request.http));
  checkFields(request, decoded, options);
  const configuration = configurationOf(request, decoded.value);
  const target = writeTargetOf(request);
  const application: Application = {
    configuration,
    manager: options.fieldManager,
    force: options.force,
    time: formatTime(context.runtime.clock.now()),
    subresource: target === "object" ? "" : target,
  };

  for (let attempt = 0; ; attempt++) {
    try {
      if ((await context.objects.read(resource, refOfPath(request))) !== undefined || target !== "object") {
        const object = await changeObject(context, resource, {
          ref: refOfPath(request),
          target,
          change: (current) => applyConfiguration(resource, current, application),
          dryRun: options.dryRun,
          warnings: request.warnings,
        });
        return respondObject(context, request, { status: 200, object });
      }
      request.requireVerb("create");
      const object = await createApplied(context, request, { application, options });
      return respondObject(context, request, { status: 201, object });
    } catch (error) {
      const raced = isAlreadyExists(error) || isNotFound(error);
      if (!raced || attempt >= attemptsMax || target !== "object") throw error;
      if (isNotFound(error) && (await isNamespaceMissing(context, request))) throw error;
    }
  }
}

async function createApplied(
  context: ApiContext,
  request: ApiRequest,
  { application, options }: { readonly application: Application; readonly options: WriteOptions },
): Promise<ApiObject> {
  const { resource } = request;
  const { configuration } = application;
  const { resourceVersion = "", uid } = configuration.metadata;
  if (uid !== undefined || resourceVersion !== "") {
    const name = configuration.metadata.name ?? "";
    throw conflict(
      groupResourceOf(resource.definition),
      name,
      "uid mismatch: the provided object specified uid or resourceVersion, and no existing object was found",
    );
  }
  const nothing: ApiObject = {
    apiVersion: configuration.apiVersion,
    kind: configuration.kind,
    metadata: {
      ...(configuration.metadata.namespace !== undefined && { namespace: configuration.metadata.namespace }),
    },
  };
  return createObject(context, resource, {
    object: applyConfiguration(resource, nothing, application),
    dryRun: options.dryRun,
    warnings: request.warnings,
  });
}

/** The configuration as an object of the kind. @throws StatusError 400. */
function configurationOf(request: ApiRequest, value: unknown): ApiObject {
  const object = objectOfBody(request, value);
  const given = value as { readonly apiVersion?: unknown; readonly kind?: unknown };
  if (typeof given.apiVersion !== "string" || typeof given.kind !== "string") {
    throw badRequest("an applied configuration must have apiVersion and kind");
  }
  if (object.metadata.managedFields !== undefined && object.metadata.managedFields.length > 0) {
    throw badRequest("metadata.managedFields must be nil");
  }
  return object;
}

async function isNamespaceMissing(context: ApiContext, request: ApiRequest): Promise<boolean> {
  const namespaces = context.registry.served({ group: "", version: "v1", plural: "namespaces" });
  const { namespace } = request.path;
  if (namespaces === undefined || namespace === undefined) return false;
  return (await context.objects.read(namespaces, { name: namespace })) === undefined;
}
