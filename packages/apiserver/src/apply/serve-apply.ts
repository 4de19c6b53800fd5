import { unsupportedMediaType } from "@meridian/kube";
import type { HttpResponse } from "@meridian/runtime";
import type { ApiRequest } from "../http/api-request.ts";
import type { ApiContext } from "../verbs/api-context.ts";
import type { WriteOptions } from "../verbs/write-options.ts";

/** Server-side apply. */
export async function serveApply(
  _context: ApiContext,
  _request: ApiRequest,
  _options: WriteOptions,
): Promise<HttpResponse> {
  throw unsupportedMediaType(["application/json-patch+json", "application/merge-patch+json"]);
}
