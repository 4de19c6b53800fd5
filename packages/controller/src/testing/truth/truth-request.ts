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

/** The request in a path of one of these types, or the kind that they lack. @throws StatusError 404 for any other path */
export function parseTruthRequest(
  request: HttpRequest,
  types: readonly ResourceType[],
): TruthRequest | { readonly unserved: string } {
  const [path = "", search = ""] = request.target.split("?");
  const segments = path.split("/").slice(1).map(decodeURIComponent);
  const core = segments[0] === "api";
  const [group, version, ...rest] = core ? ["", ...segments.slice(1)] : segments.slice(1);
  const isCollection = (plural: string | undefined): ResourceType | undefined =>
    types.find((type) => type.group === group && type.version === version && type.plural === plural);

  const namespaced = rest[0] === "namespaces" && isCollection(rest[2])?.namespaced === true;
  const [plural, name, subresource] = namespaced ? rest.slice(2) : rest;
  const type = isCollection(plural);
  if (type === undefined && plural !== undefined && (core || segments[0] === "apis")) {
    const [first, , behind] = rest;
    const ofNamespace = core && (behind === undefined || namespaceSubresources.has(behind));
    const asked = first === "namespaces" && !ofNamespace ? behind : first;
    return { unserved: kindText(request, `${asked} of ${core ? version : `${group}/${version}`}`) };
  }
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

const namespaceSubresources: ReadonlySet<string> = new Set(["status", "finalize"]);

/** The path names a kind by its plural; what is written says more. */
function kindText({ body, method }: HttpRequest, collection: string): string {
  if (method !== "POST" && method !== "PUT") return collection;
  try {
    const { kind } = JSON.parse(new TextDecoder().decode(body)) as { readonly kind?: unknown };
    return typeof kind === "string" ? `${kind} (${collection})` : collection;
  } catch {
    return collection;
  }
}

/** @throws StatusError 400 */
export function jsonBody(request: TruthRequest): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(request.body)) as unknown;
  } catch {
    throw badRequest("the body is no JSON");
  }
}
