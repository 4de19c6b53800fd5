import type { ResourceType } from "@meridian/kube";
import { badRequest, unknownPath } from "@meridian/kube";
import type { HttpRequest } from "@meridian/runtime";

/** A request to the API, taken apart. */
export interface TruthRequest {
  readonly method: string;
  readonly type: ResourceType;
  /** Absent: all namespaces, or a type without any. */
  readonly namespace: string | undefined;
  /** Absent: the collection is meant. */
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  readonly query: URLSearchParams;
  readonly contentType: string;
  readonly body: Uint8Array;
  readonly signal: AbortSignal;
}

/** @throws StatusError 404 for what is no path of one of these types */
export function parseTruthRequest(request: HttpRequest, types: readonly ResourceType[]): TruthRequest {
  const [path = "", search = ""] = request.target.split("?");
  const segments = path.split("/").slice(1).map(decodeURIComponent);
  const core = segments[0] === "api";
  const [group, version, ...rest] = core ? ["", ...segments.slice(1)] : segments.slice(1);
  const isCollection = (plural: string | undefined): ResourceType | undefined =>
    types.find((type) => type.group === group && type.version === version && type.plural === plural);

  const namespaced = rest[0] === "namespaces" && isCollection(rest[2])?.namespaced === true;
  const [plural, name, subresource] = namespaced ? rest.slice(2) : rest;
  const type = isCollection(plural);
  if (type === undefined || (name !== undefined && type.namespaced !== namespaced)) throw unknownPath();
  return {
    method: request.method,
    type,
    namespace: namespaced ? rest[1] : undefined,
    name,
    subresource,
    query: new URLSearchParams(search),
    contentType: (request.headers["content-type"] ?? "").split(";")[0] ?? "",
    body: request.body,
    signal: request.signal,
  };
}

/** @throws StatusError 400 */
export function jsonBody(request: TruthRequest): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(request.body)) as unknown;
  } catch {
    throw badRequest("the body is no JSON");
  }
}
