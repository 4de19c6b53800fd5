import { badRequest } from "@meridian/kube";
import type { HttpResponse } from "@meridian/runtime";
import type { ApiRequest } from "../http/api-request.ts";
import { respond } from "../http/respond.ts";
import type { ApiObject } from "../resource/definition.ts";
import { partialObject } from "../resource/partial-object.ts";
import { type IncludeObject, tableOf } from "../resource/table.ts";
import type { ApiContext } from "./api-context.ts";

/** Answers one object in the representation that was negotiated. */
export function respondObject(
  context: ApiContext,
  request: ApiRequest,
  answer: { readonly status: number; readonly object: ApiObject },
): HttpResponse {
  const { form, warnings } = request;
  return respond(answer.status, representObject(context, request, answer.object), { form, warnings });
}

function representObject(context: ApiContext, request: ApiRequest, object: ApiObject): unknown {
  const { metaVersion, representation } = request.form;
  switch (representation) {
    case "object":
      return object;
    case "partial":
      return partialObject(object, metaVersion);
    case "table": {
      const { resourceVersion } = object.metadata;
      return tableOf(request.resource, [object], {
        metaVersion,
        includeObject: includeObjectOf(request.query),
        now: context.runtime.clock.now(),
        metadata: resourceVersion === undefined ? {} : { resourceVersion },
        withColumns: true,
      });
    }
  }
}

/** @throws StatusError 400. */
export function includeObjectOf(query: URLSearchParams): IncludeObject {
  const value = query.get("includeObject") || "Metadata";
  if (value === "None" || value === "Metadata" || value === "Object") return value;
  throw badRequest(`invalid includeObject value "${value}": use None, Metadata or Object`);
}
