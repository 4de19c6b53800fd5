import { expired, serviceUnavailable, tooLargeResourceVersion } from "@meridian/kube";
import type { HttpResponse } from "@meridian/runtime";
import type { ApiRequest } from "../http/api-request.ts";
import { respond } from "../http/respond.ts";
import { collectionPrefix, objectKeyOf } from "../objects/object-store.ts";
import { matchesSelection, parseSelection, type Selection } from "../objects/selection.ts";
import { resourceVersionOf } from "../objects/resource-version.ts";
import { type ApiObject, type ServedResource, servedApiVersion } from "../resource/definition.ts";
import { partialObject } from "../resource/partial-object.ts";
import { tableOf } from "../resource/table.ts";
import { type Revision, StorageError } from "../storage/storage.ts";
import type { ApiContext } from "./api-context.ts";
import { type ContinuePoint, formatContinue, parseContinue } from "./continue-token.ts";
import { type ListQuery, parseListQuery } from "./list-options.ts";
import { includeObjectOf } from "./respond-object.ts";

/** `GET` of a collection. */
export async function serveList(context: ApiContext, request: ApiRequest): Promise<HttpResponse> {
  const selection = parseSelection(request.resource, request.query);
  const query = parseListQuery(request.query);
  const page = await listPage(context, request.resource, {
    namespace: request.path.namespace,
    selection,
    query,
  });
  return respondPage(context, request, page);
}

/** One page of a list. */
export interface ListPage {
  readonly objects: readonly ApiObject[];
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
}

export interface ListRequest {
  readonly namespace: string | undefined;
  readonly selection: Selection;
  readonly query: ListQuery;
}

/**
 * Reads one page: the matching objects in key order, all from one state of the store.
 *
 * @throws StatusError 400, 410 (with a token to go on at the newest state), 504.
 */
export async function listPage(
  context: ApiContext,
  resource: ServedResource,
  list: ListRequest,
): Promise<ListPage> {
  const { query, selection } = list;
  const collection = collectionPrefix(
    resource.definition,
    resource.definition.namespaced ? list.namespace : undefined,
  );
  const point = query.continueToken === undefined ? undefined : parseContinue(query.continueToken);
  const revision = point === undefined ? await revisionFor(context, query) : point.revision;
  if (revision !== undefined && revision > context.objects.storage.revision()) {
    throw tooLarge(context, revision);
  }
  try {
    return await readPage(context, resource, {
      collection,
      prefix: narrowedPrefix(resource, list) ?? collection,
      point: { after: point?.after ?? "", revision },
      selection,
      limit: query.limit,
    });
  } catch (error) {
    if (!(error instanceof StorageError) || error.code !== "Compacted") throw error;
    if (point === undefined) throw expired(`The resourceVersion for the provided list is too old.`);
    throw expired(
      "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
      { continueToken: formatContinue({ after: point.after, revision: undefined }) },
    );
  }
}

interface PageRead {
  readonly collection: string;
  readonly prefix: string;
  readonly point: ContinuePoint;
  readonly selection: Selection;
  readonly limit: number | undefined;
}

/** Pages are cut by matching objects: with a selector the scan goes on, in steps that double. */
async function readPage(context: ApiContext, resource: ServedResource, read: PageRead): Promise<ListPage> {
  const { collection, limit, selection } = read;
  const objects: ApiObject[] = [];
  let { revision } = read.point;
  let after = read.point.after === "" ? undefined : `${collection}${read.point.after}`;
  let step = limit === undefined ? undefined : Math.min(limit, scanStepMax);
  for (;;) {
    const result = await context.objects.list(resource, {
      prefix: read.prefix,
      ...(step !== undefined && { limit: step }),
      ...(after !== undefined && { after }),
      ...(revision !== undefined && { revision }),
    });
    revision = result.revision;
    for (const [index, { object, record }] of result.objects.entries()) {
      if (!matchesSelection(resource, object, selection)) continue;
      objects.push(object);
      if (limit === undefined || objects.length < limit) continue;
      const remaining = result.remaining + result.objects.length - index - 1;
      return pageOf(objects, {
        revision,
        after: record.key.slice(collection.length),
        remaining,
        exact: selection.everything,
      });
    }
    const last = result.records.at(-1);
    if (result.remaining === 0 || last === undefined)
      return { objects, metadata: { resourceVersion: resourceVersionOf(revision) } };
    after = last.key;
    step = step === undefined ? undefined : Math.min(step * 2, scanStepMax);
  }
}

const scanStepMax = 10_000;

function pageOf(
  objects: readonly ApiObject[],
  end: {
    readonly revision: Revision;
    readonly after: string;
    readonly remaining: number;
    readonly exact: boolean;
  },
): ListPage {
  const { after, exact, remaining, revision } = end;
  return {
    objects,
    metadata: {
      resourceVersion: resourceVersionOf(revision),
      ...(remaining > 0 && { continue: formatContinue({ revision, after }) }),
      ...(remaining > 0 && exact && { remainingItemCount: remaining }),
    },
  };
}

/** A selector that fixes the name needs one key only. */
function narrowedPrefix(resource: ServedResource, list: ListRequest): string | undefined {
  const { name } = list.selection;
  if (name === undefined || (resource.definition.namespaced && list.namespace === undefined))
    return undefined;
  if (/[/%]/.test(name)) return undefined;
  return objectKeyOf(resource.definition, {
    name,
    ...(list.namespace !== undefined && { namespace: list.namespace }),
  });
}

/** Which state to read; `undefined` for the newest. */
async function revisionFor(context: ApiContext, query: ListQuery): Promise<Revision | undefined> {
  switch (query.version.kind) {
    case "newest":
      return undefined;
    case "not older":
      await reach(context, query.version.than);
      return undefined;
    case "exact":
      return query.version.at;
  }
}

/**
 * Waits a moment for the store to reach a revision: the client may have heard of it elsewhere.
 *
 * @throws StatusError 503, 504.
 */
export async function reach(context: ApiContext, revision: Revision): Promise<void> {
  const { clock } = context.runtime;
  const deadline = clock.monotonicMs() + reachMsMax;
  while (context.objects.storage.revision() < revision) {
    if (clock.monotonicMs() >= deadline) throw tooLarge(context, revision);
    await clock.sleep(reachStepMs);
    if (context.closing.aborted) throw serviceUnavailable("the server is closing");
  }
}

const reachMsMax = 3_000;
const reachStepMs = 100;

function tooLarge(context: ApiContext, revision: Revision): Error {
  return tooLargeResourceVersion(
    resourceVersionOf(revision),
    resourceVersionOf(context.objects.storage.revision()),
  );
}

/** Items of built-in lists leave out what the list says already. */
function withoutKind(object: ApiObject): unknown {
  const { apiVersion: _apiVersion, kind: _kind, ...item } = object;
  return item;
}

/** Answers a page as a list, a list of metadata, or a table. */
export function respondPage(context: ApiContext, request: ApiRequest, page: ListPage): HttpResponse {
  const { form, warnings } = request;
  return respond(200, representPage(context, request, page), { form, warnings });
}

function representPage(context: ApiContext, request: ApiRequest, { metadata, objects }: ListPage): unknown {
  const { form, query, resource } = request;
  switch (form.representation) {
    case "object":
      return {
        kind: resource.definition.listKind,
        apiVersion: servedApiVersion(resource),
        metadata,
        items: resource.definition.custom ? objects : objects.map(withoutKind),
      };
    case "partial":
      return {
        kind: "PartialObjectMetadataList",
        apiVersion: `meta.k8s.io/${form.metaVersion}`,
        metadata,
        items: objects.map((object) => partialObject(object, form.metaVersion)),
      };
    case "table":
      return tableOf(resource, objects, {
        metaVersion: form.metaVersion,
        includeObject: includeObjectOf(query),
        now: context.runtime.clock.now(),
        metadata,
        withColumns: true,
      });
  }
}
