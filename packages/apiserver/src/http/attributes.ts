import type { RequestAttributes } from "../auth/identity.ts";
import type { ApiPath } from "./api-path.ts";
import { isTrue } from "./query-flag.ts";

/** The verb of a request for a resource; `undefined` for a method that the API does not have. */
export function verbOf(
  method: string,
  path: Extract<ApiPath, { kind: "resource" }>,
  query: URLSearchParams,
): string | undefined {
  switch (method) {
    case "GET":
    case "HEAD":
      if (path.watchPrefix || (isTrue(query.get("watch")) && path.subresource === undefined)) {
        if (path.name === undefined || path.watchPrefix) return "watch";
      }
      return path.name === undefined ? "list" : "get";
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "PATCH":
      return "patch";
    case "DELETE":
      return path.name === undefined ? "deletecollection" : "delete";
    default:
      return undefined;
  }
}

/** What an authorizer is asked about a request for a resource. */
export function attributesOf(
  path: Extract<ApiPath, { kind: "resource" }>,
  verb: string,
  query: URLSearchParams,
): RequestAttributes {
  const name = path.name ?? nameSelected(query);
  const namespace = path.plural === "namespaces" && path.group === "" ? path.name : path.namespace;
  return {
    kind: "resource",
    verb,
    group: path.group,
    version: path.version,
    resource: path.plural,
    ...(path.subresource !== undefined && { subresource: path.subresource }),
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
  };
}

/** A collection narrowed to one name is authorised with that name. */
function nameSelected(query: URLSearchParams): string | undefined {
  return /(?:^|,)metadata\.name==?([^,\\]+)(?:,|$)/.exec(query.get("fieldSelector") ?? "")?.[1];
}
