import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  badRequest,
  invalid,
  invalidValue,
  isJsonObject,
  type Json,
  type JsonObject,
  type PatchSchema,
  unsupportedMediaType,
  jsonText,
} from "@meridian/kube";
import type { HttpResponse } from "@meridian/runtime";
import { serveApply } from "../apply/serve-apply.ts";
import type { ApiRequest } from "../http/api-request.ts";
import { bodyText, decodeJsonText } from "../http/body.ts";
import { parseMediaType } from "../http/media-type.ts";
import type { DecodedJson } from "../json/json-text.ts";
import { type ApiObject, asJson, type ServedResource } from "../resource/definition.ts";
import type { ApiContext } from "./api-context.ts";
import { changeObject } from "./change-object.ts";
import { fieldProblems, objectOfBody, strictErrorText } from "./decode-object.ts";
import { respondObject } from "./respond-object.ts";
import { refOfPath, writeTargetOf } from "./update.ts";
import { parseWriteOptions, type WriteOptions } from "./write-options.ts";

type PatchType = "json" | "merge" | "strategic" | "apply";

const patchTypes = new Map<string, PatchType>([
  ["application/json-patch+json", "json"],
  ["application/merge-patch+json", "merge"],
  ["application/strategic-merge-patch+json", "strategic"],
  ["application/apply-patch+yaml", "apply"],
]);

/** `PATCH` of an object or its status, in each of the four forms. */
export async function servePatch(context: ApiContext, request: ApiRequest): Promise<HttpResponse> {
  const type = patchTypeOf(request);
  if (type === "apply") return serveApply(context, request, parseWriteOptions(request, "apply"));

  const options = parseWriteOptions(request, "patch");
  const patch = decodeJsonText(bodyText(request.http));
  if (type !== "json" && !isJsonObject(patch.value)) throw badRequest("the patch must be a JSON object");
  const patched = await changeObject(context, request.resource, {
    ref: refOfPath(request),
    target: writeTargetOf(request),
    change: (current) => patchObject(request, { current, patch, type, options }),
    dryRun: options.dryRun,
    fieldManager: options.fieldManager,
    warnings: request.warnings,
  });
  return respondObject(context, request, { status: 200, object: patched });
}

/** @throws StatusError 415 naming the forms that the kind takes. */
function patchTypeOf(request: ApiRequest): PatchType {
  const type = patchTypes.get(parseMediaType(request.http.headers["content-type"] ?? "").type);
  const { custom } = request.resource.definition;
  if (type === undefined || (type === "strategic" && custom)) {
    throw unsupportedMediaType(
      [...patchTypes].filter(([, known]) => !(known === "strategic" && custom)).map(([text]) => text),
    );
  }
  return type;
}

/** Applies the request's patch to something that is no object of a kind: a Scale. */
export function applyPatchBody(request: ApiRequest, target: JsonObject): Json {
  const type = patchTypes.get(parseMediaType(request.http.headers["content-type"] ?? "").type);
  const patch = decodeJsonText(bodyText(request.http)).value as Json;
  if (type === "json") return applyJsonPatch(target, patch);
  // A Scale has no lists, so a strategic merge of one is a plain merge.
  if (type === "merge" || type === "strategic") return applyMergePatch(target, patch);
  throw unsupportedMediaType(["application/json-patch+json", "application/merge-patch+json"]);
}

interface PatchStep {
  readonly current: ApiObject;
  readonly patch: DecodedJson;
  readonly type: Exclude<PatchType, "apply">;
  readonly options: WriteOptions;
}

function patchObject(request: ApiRequest, step: PatchStep): ApiObject {
  const { resource } = request;
  const result = applyPatch(resource, step);
  if (!isJsonObject(result)) throw badRequest("the patch does not leave an object");
  checkPatchedFields(request, step, result);
  return objectOfBody(request, result);
}

function applyPatch(resource: ServedResource, { current, patch, type }: PatchStep): Json {
  const target = asJson(current);
  const change = patch.value as Json;
  switch (type) {
    case "json":
      return applyJsonPatch(target, change);
    case "merge":
      return applyMergePatch(target, change);
    case "strategic":
      return applyStrategicMergePatch(target, change, {
        properties: { ...resource.version.schema.schema.properties, metadata: metadataPatchSchema },
      });
  }
}

/** The lists that merge in the metadata of every kind. */
const metadataPatchSchema: PatchSchema = {
  properties: {
    finalizers: { "x-kubernetes-patch-strategy": "merge" },
    ownerReferences: { "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "uid" },
  },
};

/** Unknown fields of a patched object are the patch's; duplicates can only stand in the patch itself. */
function checkPatchedFields(request: ApiRequest, step: PatchStep, result: JsonObject): void {
  if (step.options.fieldValidation === "Ignore") return;
  const { definition } = request.resource;
  const problems = fieldProblems(request.resource, { value: result, duplicates: step.patch.duplicates });
  if (problems.length === 0) return;
  if (step.options.fieldValidation === "Strict") {
    throw invalid({ group: definition.group, kind: definition.kind }, step.current.metadata.name ?? "", [
      invalidValue("patch", jsonText(step.patch.value), strictErrorText(problems)),
    ]);
  }
  for (const problem of problems) request.warnings.add(problem);
}
