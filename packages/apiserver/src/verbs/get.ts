import { badRequest, notFound } from "@meridian/kube";
import type { HttpResponse } from "@meridian/runtime";
import type { ApiRequest } from "../http/api-request.ts";
import { parseResourceVersion } from "../objects/resource-version.ts";
import { groupResourceOf } from "../resource/definition.ts";
import type { ApiContext } from "./api-context.ts";
import { reach } from "./list.ts";
import { respondObject } from "./respond-object.ts";
import { refOfPath } from "./update.ts";

/** `GET` of an object. There is no cache to be behind, so it is always the newest. */
export async function serveGet(context: ApiContext, request: ApiRequest): Promise<HttpResponse> {
  const resourceVersion = request.query.get("resourceVersion") ?? "";
  if (resourceVersion !== "") {
    const revision = parseResourceVersion(resourceVersion);
    if (revision === undefined)
      throw badRequest(`invalid resource version: ${JSON.stringify(resourceVersion)}`);
    await reach(context, revision);
  }
  const ref = refOfPath(request);
  const stored = await context.objects.read(request.resource, ref);
  if (stored === undefined) throw notFound(groupResourceOf(request.resource.definition), ref.name);
  return respondObject(context, request, { status: 200, object: stored.object });
}
