import { accessDenied, methodNotAllowed, methodNotAllowedHere, unknownPath } from "@meridian/kube";
import type { HttpRequest, HttpResponse } from "@meridian/runtime";
import { serveAdmin } from "../admin/serve-admin.ts";
import type { IdentifyToken } from "../auth/authenticate.ts";
import type { Authorizer, UserInfo } from "../auth/identity.ts";
import { impersonate } from "../auth/impersonate.ts";
import { serveReview, reviewOf } from "../auth/reviews.ts";
import { serveDiscovery } from "../discovery/serve-discovery.ts";
import { serveOpenApi } from "../openapi/serve-openapi.ts";
import { groupResourceOf, type ServedResource } from "../resource/definition.ts";
import type { ApiContext } from "../verbs/api-context.ts";
import { serveCreate } from "../verbs/create.ts";
import { serveDelete } from "../verbs/delete.ts";
import { serveDeleteCollection } from "../verbs/delete-collection.ts";
import { serveGet } from "../verbs/get.ts";
import { serveList } from "../verbs/list.ts";
import { servePatch } from "../verbs/patch.ts";
import { serveScale } from "../verbs/scale.ts";
import { serveUpdate } from "../verbs/update.ts";
import { serveWatch } from "../verbs/watch.ts";
import { type ApiPath, parseApiPath } from "./api-path.ts";
import type { ApiRequest } from "./api-request.ts";
import { attributesOf, verbOf } from "./attributes.ts";
import { fieldManagerOf } from "../verbs/write-options.ts";
import { negotiate } from "./negotiation.ts";
import { Warnings } from "./warnings.ts";

/** What stands behind the door, and who may pass it. */
export interface Front {
  readonly context: ApiContext;
  readonly authorizer: Authorizer;
  readonly identify: IdentifyToken;
}

/** Finds who answers a request of a known user; `undefined` for a path that nobody owns. */
export async function dispatch(
  front: Front,
  http: HttpRequest,
  sender: UserInfo,
): Promise<HttpResponse | undefined> {
  const user = impersonate(sender, http.headers, front.authorizer);
  const mark = http.target.indexOf("?");
  const pathText = mark < 0 ? http.target : http.target.slice(0, mark);
  const query = new URLSearchParams(mark < 0 ? "" : http.target.slice(mark + 1));
  const path = parseApiPath(pathText);
  if (path === undefined) return undefined;
  if (path.kind === "other")
    return dispatchOther(front, http, { user, path: pathText, segments: path.segments, query });
  return dispatchResource(front, http, { user, path, query });
}

async function dispatchOther(
  front: Front,
  http: HttpRequest,
  request: {
    readonly user: UserInfo;
    readonly path: string;
    readonly segments: readonly string[];
    readonly query: URLSearchParams;
  },
): Promise<HttpResponse | undefined> {
  const { path, query, segments, user } = request;
  const verb = http.method === "HEAD" ? "get" : http.method.toLowerCase();
  const { allowed, reason } = front.authorizer.authorize(user, { kind: "path", verb, path });
  if (!allowed)
    throw accessDenied({ user: user.username, verb, path, ...(reason !== undefined && { reason }) });
  const admin = serveAdmin(front.context, http, { segments, query });
  if (admin !== undefined) return admin;
  const answer =
    serveDiscovery(front.context, http, segments) ?? serveOpenApi(front.context, http, { segments, query });
  if (answer !== undefined && verb !== "get") throw methodNotAllowedHere();
  return answer;
}

interface ResourceRequest {
  readonly user: UserInfo;
  readonly path: Extract<ApiPath, { kind: "resource" }>;
  readonly query: URLSearchParams;
}

async function dispatchResource(
  front: Front,
  http: HttpRequest,
  request: ResourceRequest,
): Promise<HttpResponse | undefined> {
  const { query, user } = request;
  const path = request.path.watchPrefix ? withoutWatchPrefix(request.path, query) : request.path;
  const verb = request.path.watchPrefix ? "watch" : verbOf(http.method, path, query);
  if (verb === undefined)
    throw methodNotAllowed({ group: path.group, plural: path.plural }, http.method.toLowerCase());
  authorize(front, { ...request, path }, verb);

  const review = reviewOf(path);
  if (review !== undefined) return serveReview(front, http, { review, user, path });
  const resource = front.context.registry.served(path);
  if (resource === undefined) return undefined;
  checkScope(resource, path, verb);

  const form = negotiate(http.headers["accept"], true);
  const warnings = new Warnings();
  const { deprecationWarning } = resource.version;
  if (deprecationWarning !== undefined) warnings.add(deprecationWarning);
  const requireVerb = (needed: string): void => authorize(front, { ...request, path }, needed);
  const { group, plural } = resource.definition;
  front.context.requests.count({ user: user.username, verb, group, resource: plural });
  const context = writing.has(verb) ? noteWriter(front.context, { http, query, user }) : front.context;
  return answerVerb(context, { http, query, path, resource, user, form, warnings, requireVerb }, verb);
}

const writing = new Set(["create", "update", "patch", "delete", "deletecollection"]);

/** The context of a request that writes: the ledger learns whose the new revisions are. */
function noteWriter(
  context: ApiContext,
  request: { readonly http: HttpRequest; readonly query: URLSearchParams; readonly user: UserInfo },
): ApiContext {
  const writer = { user: request.user.username, manager: fieldManagerOf(request) };
  const objects = context.objects.noting((revision) => context.ledger.note(revision, writer));
  return { ...context, objects };
}

function authorize(front: Front, request: ResourceRequest, verb: string): void {
  const { path, query, user } = request;
  const attributes = attributesOf(path, verb, query);
  const { allowed, reason } = front.authorizer.authorize(user, attributes);
  if (allowed || attributes.kind !== "resource") return;
  throw accessDenied({
    user: user.username,
    verb,
    resource: { group: path.group, plural: path.plural },
    ...(path.subresource !== undefined && { subresource: path.subresource }),
    ...(path.name !== undefined && { name: path.name }),
    ...(path.namespace !== undefined && { namespace: path.namespace }),
    ...(reason !== undefined && { reason }),
  });
}

async function answerVerb(context: ApiContext, request: ApiRequest, verb: string): Promise<HttpResponse> {
  const { path, resource } = request;
  const { definition, version } = resource;
  if (path.subresource === "scale" && version.scale !== undefined) return serveScale(context, request, verb);
  if (path.subresource !== undefined) {
    const known =
      (path.subresource === "status" && version.hasStatus) ||
      (path.subresource === "finalize" && definition.rules.holdsDeletion !== undefined);
    if (!known) throw unknownPath();
    if (verb !== "get" && verb !== "update" && verb !== "patch")
      throw methodNotAllowed(groupResourceOf(definition), verb);
  }
  if (verb === "create" && path.name !== undefined) throw methodNotAllowed(groupResourceOf(definition), verb);
  if (path.name === undefined && (verb === "update" || verb === "patch")) {
    throw methodNotAllowed(groupResourceOf(definition), verb);
  }
  switch (verb) {
    case "get":
      return serveGet(context, request);
    case "list":
      return serveList(context, request);
    case "watch":
      return serveWatch(context, request);
    case "create":
      return serveCreate(context, request);
    case "update":
      return serveUpdate(context, request);
    case "patch":
      return servePatch(context, request);
    case "delete":
      return serveDelete(context, request);
    case "deletecollection":
      return serveDeleteCollection(context, request);
    default:
      throw methodNotAllowed(groupResourceOf(definition), verb);
  }
}

/** Objects live where their kind says: anything else names nothing. Lists and watches may span all namespaces. */
function checkScope(resource: ServedResource, path: ApiRequest["path"], verb: string): void {
  const { namespaced } = resource.definition;
  if (!namespaced && path.namespace !== undefined) throw unknownPath();
  if (!namespaced || path.namespace !== undefined) return;
  if (path.name !== undefined) throw unknownPath();
  if (verb !== "list" && verb !== "watch") throw methodNotAllowed(groupResourceOf(resource.definition), verb);
}

/** `/api/v1/watch/pods/x` is a watch of the collection, with a selector for the name. */
function withoutWatchPrefix(path: ApiRequest["path"], query: URLSearchParams): ApiRequest["path"] {
  const { name, ...collection } = path;
  if (name !== undefined) query.set("fieldSelector", `metadata.name=${name.replace(/[\\,=]/g, "\\$&")}`);
  return { ...collection, watchPrefix: false };
}
