import {
  badRequest,
  formatLabelSelector,
  isJsonObject,
  type Json,
  type JsonObject,
  labelSelectorFromSpec,
  methodNotAllowed,
  ownField,
} from "@meridian/kube";
import type { HttpResponse } from "@meridian/runtime";
import type { ApiRequest } from "../http/api-request.ts";
import { decodeBody } from "../http/body.ts";
import { respond } from "../http/respond.ts";
import { type ApiObject, asJson, groupResourceOf, type ScalePaths } from "../resource/definition.ts";
import type { ApiContext } from "./api-context.ts";
import { changeObject } from "./change-object.ts";
import { serveGet } from "./get.ts";
import { applyPatchBody } from "./patch.ts";
import { refOfPath } from "./update.ts";
import { parseWriteOptions } from "./write-options.ts";

/** The subresource `scale`: the number of replicas, in the same form for each kind that has one (autoscaling/v1 Scale). */
export async function serveScale(
  context: ApiContext,
  request: ApiRequest,
  verb: string,
): Promise<HttpResponse> {
  const { resource } = request;
  const paths = resource.version.scale;
  if (paths === undefined || (verb !== "get" && verb !== "update" && verb !== "patch")) {
    throw methodNotAllowed(groupResourceOf(resource.definition), verb);
  }
  if (verb === "get") {
    const stored = await context.objects.read(resource, refOfPath(request));
    if (stored === undefined) return serveGet(context, request);
    return respond(200, scaleOf(stored.object, paths), { form: request.form });
  }

  const options = parseWriteOptions(request, verb);
  const changed = await changeObject(context, resource, {
    ref: refOfPath(request),
    target: "object",
    change: (current) => {
      const wanted =
        verb === "update" ? decodeBody(request.http).value : applyPatchBody(request, scaleOf(current, paths));
      return withScale(current, wanted, paths);
    },
    needsVersion: false,
    dryRun: options.dryRun,
    fieldManager: options.fieldManager,
  });
  return respond(200, scaleOf(changed, paths), { form: request.form, warnings: request.warnings });
}

function scaleOf(object: ApiObject, paths: ScalePaths): JsonObject {
  const { creationTimestamp, name, namespace, resourceVersion, uid } = object.metadata;
  const selector =
    paths.labelSelector === undefined ? undefined : valueAt(asJson(object), paths.labelSelector);
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: {
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
      ...(creationTimestamp !== undefined && { creationTimestamp }),
    },
    spec: { replicas: numberAt(object, paths.specReplicas) },
    status: {
      replicas: numberAt(object, paths.statusReplicas),
      ...(selector !== undefined && { selector: selectorText(selector) }),
    },
  };
}

/** A label selector stands as text in custom resources, and as a structure in built-in ones. */
function selectorText(selector: Json): string {
  if (typeof selector === "string") return selector;
  return isJsonObject(selector) ? formatLabelSelector(labelSelectorFromSpec(selector)) : "";
}

function withScale(current: ApiObject, scale: unknown, paths: ScalePaths): ApiObject {
  if (!isJsonObject(scale)) throw badRequest("the body of the request must be a Scale");
  const spec = ownField(scale, "spec") ?? {};
  const replicas = (isJsonObject(spec) ? ownField(spec, "replicas") : undefined) ?? 0;
  if (typeof replicas !== "number" || !Number.isInteger(replicas) || replicas < 0) {
    throw badRequest("spec.replicas of a Scale must be an integer of 0 or more");
  }
  const metadata = ownField(scale, "metadata");
  const seen = isJsonObject(metadata) ? ownField(metadata, "resourceVersion") : undefined;
  const uid = isJsonObject(metadata) ? ownField(metadata, "uid") : undefined;
  const object = withValueAt(asJson(current), paths.specReplicas, replicas) as unknown as ApiObject;
  const { resourceVersion: _, ...rest } = object.metadata;
  return {
    ...object,
    metadata: {
      ...rest,
      ...(typeof seen === "string" && seen !== "" && { resourceVersion: seen }),
      ...(typeof uid === "string" && uid !== "" && { uid }),
    },
  };
}

function numberAt(object: ApiObject, path: readonly string[]): number {
  const value = valueAt(asJson(object), path);
  return typeof value === "number" ? value : 0;
}

function valueAt(value: Json, path: readonly string[]): Json | undefined {
  let at: Json | undefined = value;
  for (const field of path) {
    if (!isJsonObject(at)) return undefined;
    at = ownField(at, field);
  }
  return at;
}

function withValueAt(value: Json | undefined, path: readonly string[], content: Json): Json {
  const [field, ...rest] = path;
  if (field === undefined) return content;
  const object = isJsonObject(value) ? value : {};
  return { ...object, [field]: withValueAt(ownField(object, field), rest, content) };
}
