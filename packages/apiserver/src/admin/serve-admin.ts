import { badRequest, isJsonObject, type Json, methodNotAllowedHere } from "@meridian/kube";
import type { HttpRequest, HttpResponse } from "@meridian/runtime";
import { bodyText } from "../http/body.ts";
import { respond } from "../http/respond.ts";
import { rootKey } from "../objects/object-store.ts";
import { parseResourceVersion, resourceVersionOf } from "../objects/resource-version.ts";
import type { Revision, StorageEvent } from "../storage/storage.ts";
import type { ApiContext } from "../verbs/api-context.ts";

/**
 * What an operator may do that is no part of the Kubernetes API: see the history and who wrote it, see who asks for what, and
 * forget the history. `undefined` for a path that is none of these. The caller has checked the right to the path.
 *
 * @throws StatusError 400, 405.
 */
export function serveAdmin(
  context: ApiContext,
  http: HttpRequest,
  request: { readonly segments: readonly string[]; readonly query: URLSearchParams },
): Promise<HttpResponse> | undefined {
  const [root, name, ...rest] = request.segments;
  if (root !== "meridian" || rest.length > 0) return undefined;
  if (name === "history") return serveHistory(context, http, request.query);
  if (name === "requests") return serveRequests(context, http);
  if (name === "compact") return serveCompact(context, http);
  return undefined;
}

/** One write that the history still holds. */
export interface HistoryChange {
  readonly resourceVersion: string;
  readonly type: "created" | "changed" | "deleted";
  readonly group: string;
  readonly resource: string;
  readonly namespace?: string;
  readonly name: string;
  /** Absent for what the server wrote by itself, and where nobody remembers. */
  readonly user?: string;
  readonly fieldManager?: string;
}

const changesDefault = 100;
const changesMax = 1_000;

/** `GET /meridian/history?limit=N`: the newest changes, oldest first, and how far back a watch may begin. */
async function serveHistory(
  context: ApiContext,
  http: HttpRequest,
  query: URLSearchParams,
): Promise<HttpResponse> {
  allowOnly(http, "GET");
  const limit = wholeNumber(query.get("limit") ?? String(changesDefault), "limit");
  const { storage } = context.objects;
  const newest = storage.revision();
  const compacted = storage.compactedRevision();
  const after = Math.max(compacted, newest - Math.min(limit, changesMax)) as Revision;
  const events = await eventsOf(context, { after, newest });
  return respond(200, {
    resourceVersion: resourceVersionOf(newest),
    compactedResourceVersion: resourceVersionOf(compacted),
    changes: events.map((event) => changeOf(context, event)),
  });
}

async function eventsOf(
  context: ApiContext,
  range: { readonly after: Revision; readonly newest: Revision },
): Promise<readonly StorageEvent[]> {
  const events: StorageEvent[] = [];
  if (range.after >= range.newest) return events;
  const stopping = new AbortController();
  const watch = context.objects.watch({ prefix: rootKey, after: range.after, signal: stopping.signal });
  for await (const batch of watch) {
    for (const event of batch.events) if (event.revision <= range.newest) events.push(event);
    if (batch.progress >= range.newest) break;
  }
  stopping.abort();
  return events;
}

function changeOf(context: ApiContext, event: StorageEvent): HistoryChange {
  const key = event.type === "put" ? event.record.key : event.key;
  // A key is the root, a folder of two parts, and then namespace and name or the name alone.
  const [folderStart = "", folderEnd = "", ...rest] = key.slice(rootKey.length).split("/");
  const definition = context.registry.ofFolder(`${folderStart}/${folderEnd}`)?.definition;
  const name = rest.pop() ?? "";
  const writer = context.ledger.writerOf(event.revision);
  return {
    resourceVersion: resourceVersionOf(event.revision),
    type: event.type === "delete" ? "deleted" : event.previous === undefined ? "created" : "changed",
    group: definition?.group ?? folderStart,
    resource: definition?.plural ?? folderEnd,
    ...(rest[0] !== undefined && { namespace: rest[0] }),
    name,
    ...(writer !== undefined && { user: writer.user, fieldManager: writer.manager }),
  };
}

/** `GET /meridian/requests`: how many requests of each user and kind there were, and which watches are open. */
async function serveRequests(context: ApiContext, http: HttpRequest): Promise<HttpResponse> {
  allowOnly(http, "GET");
  return respond(200, { requests: context.requests.all() });
}

/**
 * `POST /meridian/compact`: forgets the history. The body says what stays: `{"keep": 4}` the newest four changes,
 * `{"resourceVersion": "17"}` what came after 17; without a body nothing stays. The present is not touched.
 */
async function serveCompact(context: ApiContext, http: HttpRequest): Promise<HttpResponse> {
  allowOnly(http, "POST");
  const { storage } = context.objects;
  const newest = storage.revision();
  const target = compactionTarget(bodyText(http), newest);
  if (target > newest) {
    throw badRequest(`resourceVersion ${target} is in the future: the newest is ${newest}`);
  }
  await storage.compact(target);
  return respond(200, { compactedResourceVersion: resourceVersionOf(storage.compactedRevision()) });
}

function compactionTarget(text: string, newest: Revision): Revision {
  if (text.trim() === "") return newest;
  let body: Json;
  try {
    body = JSON.parse(text) as Json;
  } catch {
    throw badRequest("the body is no JSON");
  }
  if (!isJsonObject(body)) throw badRequest("the body must be an object");
  const { keep, resourceVersion, ...unknown } = body;
  const strange = Object.keys(unknown)[0];
  if (strange !== undefined)
    throw badRequest(`unknown field "${strange}": keep and resourceVersion are known`);
  if (keep !== undefined && resourceVersion !== undefined)
    throw badRequest("give keep or resourceVersion, not both");
  if (resourceVersion !== undefined) {
    const revision = typeof resourceVersion === "string" ? parseResourceVersion(resourceVersion) : undefined;
    if (revision === undefined) throw badRequest("resourceVersion must be a text of digits");
    return revision;
  }
  const kept = wholeNumber(JSON.stringify(keep ?? 0), "keep");
  return Math.max(0, newest - kept) as Revision;
}

function wholeNumber(text: string, name: string): number {
  const value = Number(text);
  if (/^\d{1,9}$/.test(text)) return value;
  throw badRequest(`${name} must be a whole number, and is ${JSON.stringify(text)}`);
}

function allowOnly(http: HttpRequest, method: "GET" | "POST"): void {
  if (http.method === method || (method === "GET" && http.method === "HEAD")) return;
  throw methodNotAllowedHere();
}
