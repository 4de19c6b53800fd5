import {
  badRequest,
  forbiddenField,
  invalid,
  invalidValue,
  notSupported,
  type StatusCause,
} from "@meridian/kube";
import { isTrue } from "../http/query-flag.ts";
import { parseResourceVersion } from "../objects/resource-version.ts";
import type { Revision } from "../storage/storage.ts";

/** How fresh a list must be, and whether it may be another state than the newest. */
export type ListVersion =
  | { readonly kind: "newest" }
  | { readonly kind: "not older"; readonly than: Revision }
  | { readonly kind: "exact"; readonly at: Revision };

export interface ListQuery {
  readonly version: ListVersion;
  /** Absent: no limit. */
  readonly limit?: number;
  readonly continueToken?: string;
}

/** Where a watch starts. */
export type WatchStart =
  /** The state as ADDED events first; with the end of it marked when bookmarks are wanted. */
  | { readonly kind: "state"; readonly notOlderThan: Revision | undefined; readonly marked: boolean }
  | { readonly kind: "now" }
  | { readonly kind: "after"; readonly revision: Revision };

export interface WatchQuery {
  readonly start: WatchStart;
  readonly bookmarks: boolean;
  /** Absent: the server chooses. */
  readonly timeoutSeconds?: number;
}

/** Reads and checks the parameters of a list (API concepts, "Resource versions"). @throws StatusError 400, 422. */
export function parseListQuery(query: URLSearchParams): ListQuery {
  const resourceVersion = query.get("resourceVersion") ?? "";
  const match = query.get("resourceVersionMatch") ?? "";
  const continueToken = query.get("continue") ?? "";
  const causes: StatusCause[] = [];
  if (query.has("sendInitialEvents")) {
    causes.push(forbiddenField("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  if (match !== "") causes.push(...matchProblems({ resourceVersion, match, continueToken }));
  if (causes.length > 0) throw invalidListOptions(causes);

  const asked = parseLimit(query.get("limit"));
  const revision = resourceVersion === "" ? undefined : parseResourceVersion(resourceVersion);
  if (resourceVersion !== "" && revision === undefined) {
    throw badRequest(`invalid resource version: ${JSON.stringify(resourceVersion)}`);
  }
  if (continueToken !== "" && revision !== undefined && revision > 0) {
    throw badRequest("specifying resource version is not allowed when using continue");
  }
  // As in kube-apiserver: whoever takes any version gets all of it at once. An informer of client-go asks so, and would take
  // the pages as slowly as its own limit on requests lets it, 2,500 objects a second.
  const takesAny = revision !== undefined && !(revision > 0) && continueToken === "";
  const limit = takesAny ? undefined : asked;
  return {
    version: listVersion(revision, { match, limited: limit !== undefined }),
    ...(limit !== undefined && { limit }),
    ...(continueToken !== "" && { continueToken }),
  };
}

/** Reads and checks the parameters of a watch. @throws StatusError 422. */
export function parseWatchQuery(query: URLSearchParams): WatchQuery {
  const resourceVersion = query.get("resourceVersion") ?? "";
  const match = query.get("resourceVersionMatch") ?? "";
  const initial = query.get("sendInitialEvents");
  const causes: StatusCause[] = [];
  if (initial !== null && match === "") {
    causes.push(
      forbiddenField(
        "resourceVersionMatch",
        "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
      ),
    );
  }
  if (initial === null && match !== "") {
    causes.push(
      forbiddenField(
        "resourceVersionMatch",
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
      ),
    );
  }
  if (match !== "" && match !== "NotOlderThan")
    causes.push(notSupported("resourceVersionMatch", match, ["NotOlderThan"]));
  if ((query.get("continue") ?? "") !== "") {
    causes.push(forbiddenField("continue", "continue is forbidden for watch"));
  }
  const revision = resourceVersion === "" ? (0 as Revision) : parseResourceVersion(resourceVersion);
  if (revision === undefined) {
    causes.push(invalidValue("resourceVersion", resourceVersion, "must be an unsigned decimal integer"));
  }
  if (causes.length > 0 || revision === undefined) throw invalidListOptions(causes);

  const timeoutSeconds = parseTimeout(query.get("timeoutSeconds"));
  return {
    start: watchStart(revision, initial),
    bookmarks: isTrue(query.get("allowWatchBookmarks")),
    ...(timeoutSeconds !== undefined && { timeoutSeconds }),
  };
}

/** A legacy watch without a version is one that wants the state first, so both get the end of it marked. */
function watchStart(revision: Revision, initial: string | null): WatchStart {
  if (initial !== null && isTrue(initial)) {
    return { kind: "state", notOlderThan: revision > 0 ? revision : undefined, marked: true };
  }
  if (revision > 0) return { kind: "after", revision };
  return initial === null ? { kind: "state", notOlderThan: undefined, marked: true } : { kind: "now" };
}

function matchProblems(given: {
  readonly resourceVersion: string;
  readonly match: string;
  readonly continueToken: string;
}): StatusCause[] {
  const causes: StatusCause[] = [];
  const field = "resourceVersionMatch";
  if (given.resourceVersion === "") {
    causes.push(
      forbiddenField(field, "resourceVersionMatch is forbidden unless resourceVersion is provided"),
    );
  }
  if (given.continueToken !== "") {
    causes.push(forbiddenField(field, "resourceVersionMatch is forbidden when continue is provided"));
  }
  if (given.match !== "Exact" && given.match !== "NotOlderThan") {
    causes.push(notSupported(field, given.match, ["Exact", "NotOlderThan", ""]));
  } else if (given.match === "Exact" && given.resourceVersion === "0") {
    causes.push(forbiddenField(field, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
  }
  return causes;
}

/** With a limit and no match, a version means exactly that one: the rule from before there was a match. */
function listVersion(
  revision: Revision | undefined,
  options: { readonly match: string; readonly limited: boolean },
): ListVersion {
  if (revision === undefined || revision === 0) return { kind: "newest" };
  if (options.match === "Exact" || (options.match === "" && options.limited))
    return { kind: "exact", at: revision };
  return { kind: "not older", than: revision };
}

function parseLimit(text: string | null): number | undefined {
  if (text === null || text === "") return undefined;
  if (!/^-?\d{1,19}$/.test(text)) throw badRequest(`invalid limit ${JSON.stringify(text)}: use an integer`);
  const limit = Number(text);
  return limit > 0 ? limit : undefined;
}

function parseTimeout(text: string | null): number | undefined {
  if (text === null || text === "") return undefined;
  if (!/^\d{1,10}$/.test(text))
    throw badRequest(`invalid timeoutSeconds ${JSON.stringify(text)}: use an integer`);
  const seconds = Number(text);
  return seconds > 0 ? seconds : undefined;
}

function invalidListOptions(causes: readonly StatusCause[]): Error {
  return invalid({ group: "meta.k8s.io", kind: "ListOptions" }, "", causes);
}
