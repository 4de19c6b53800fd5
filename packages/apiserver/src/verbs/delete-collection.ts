import { isNotFound } from "@meridian/kube";
import type { HttpResponse } from "@meridian/runtime";
import type { ApiRequest } from "../http/api-request.ts";
import { refOf } from "../objects/object-store.ts";
import { parseSelection } from "../objects/selection.ts";
import type { ApiObject } from "../resource/definition.ts";
import type { ApiContext } from "./api-context.ts";
import { deleteObject } from "./delete.ts";
import { parseDeleteOptions } from "./delete-options.ts";
import { parseListQuery } from "./list-options.ts";
import { listPage, respondPage } from "./list.ts";

/** `DELETE` of a collection: each selected object by itself, so it is not atomic. Answers what was deleted. */
export async function serveDeleteCollection(context: ApiContext, request: ApiRequest): Promise<HttpResponse> {
  const { resource } = request;
  const options = parseDeleteOptions(request);
  const selection = parseSelection(resource, request.query);
  const query = parseListQuery(request.query);
  const page = await listPage(context, resource, { namespace: request.path.namespace, selection, query });

  const deleted: ApiObject[] = [];
  for (const object of page.objects) {
    try {
      await deleteObject(context, resource, { ref: refOf(object), options });
      deleted.push(object);
    } catch (error) {
      // What vanished in between is what was asked for.
      if (!isNotFound(error)) throw error;
    }
  }
  return respondPage(context, request, { ...page, objects: deleted });
}
