import type { Json, KubeObject, Status } from "@meridian/kube";
import type { WireFormat } from "./wire-format.ts";

/** What every request takes. */
export interface RequestOptions {
  /** Ends the request; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Bound on the whole request, its retries included (of a watch: until it is open). Default: the client's. */
  readonly deadlineMs?: number;
}

/** Options of a read of one object. */
export interface GetOptions extends RequestOptions {
  /** `status`, `scale` or another one that the type has. */
  readonly subresource?: string;
  /** `0` takes whatever state the server has at hand; another, one at least as new. Default: the newest. */
  readonly resourceVersion?: string;
}

/** Options of requests that write. */
export interface WriteOptions extends RequestOptions {
  /** Whose fields these are, in `managedFields`. Default: made from the user agent by the server. */
  readonly fieldManager?: string;
  /** Goes through admission and validation and stores nothing. */
  readonly dryRun?: boolean;
  /** What the server does about fields that it does not know, or that are there twice. Its default is `Warn`. */
  readonly fieldValidation?: "Strict" | "Warn" | "Ignore";
  /** `status`, `scale`, `eviction`, `binding`, `token` or another one that the type has. */
  readonly subresource?: string;
}

/** Options of requests whose objects stay undecoded. */
export interface RawOptions {
  /** What to ask for in place of JSON, for the kinds that it knows. The server may answer in JSON all the same. */
  readonly wireFormat?: WireFormat | undefined;
  /** Lets the server compress a list (gzip). Default false. */
  readonly compressed?: boolean | undefined;
}

/** Which objects of a collection are meant. */
export interface SelectionOptions {
  /** Absent: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** Options of a list. */
export interface ListOptions extends RequestOptions, SelectionOptions {
  readonly limit?: number;
  readonly continueToken?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan";
}

/** Options of a watch. */
export interface WatchOptions extends RequestOptions, SelectionOptions {
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "NotOlderThan";
  /** Default true. */
  readonly allowWatchBookmarks?: boolean;
  readonly sendInitialEvents?: boolean;
  /** After it the server ends the watch; this client ends it itself a little later. Default 300. */
  readonly timeoutSeconds?: number;
}

/** A patch and how it is to be applied. */
export interface PatchOptions extends WriteOptions {
  /** `merge`: RFC 7386; `json`: RFC 6902; `strategic`: built-in kinds only; `apply`: server-side apply. */
  readonly type: "merge" | "json" | "strategic" | "apply";
  readonly body: Json | object;
  /** Only for `apply`: takes over fields that others own. */
  readonly force?: boolean;
}

/** Options of a server-side apply. */
export interface ApplyOptions extends WriteOptions {
  /** Whose fields these are; what this manager applied before and leaves out now is removed. */
  readonly fieldManager: string;
  /** Takes over fields that others own, where they would be a conflict else. Controllers want it. */
  readonly force?: boolean;
}

/** Options of a delete. */
export interface DeleteOptions extends RequestOptions {
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
  /** Deletes only the object that still has these. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

/** Options of a delete of all objects of a selection. */
export interface DeleteCollectionOptions extends Omit<DeleteOptions, "preconditions">, SelectionOptions {}

/** An object whose kind this program knows nothing of. */
export interface UntypedObject extends KubeObject {
  readonly [field: string]: unknown;
}

/** One event of a watch. */
export type WatchEvent<T extends KubeObject = KubeObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly type: "BOOKMARK"; readonly object: KubeObject }
  | { readonly type: "ERROR"; readonly object: Status };

/**
 * An open watch: the server has answered. One reader. It ends when the server ends it or after `close`; leaving
 * the loop closes it. It throws an ApiError `TruncatedResponse` when the connection broke, `DeadlineExceeded` when the
 * server did not end it in time, and the signal's reason when that aborts. Events of unknown types are skipped.
 */
export interface WatchStream<T extends KubeObject = KubeObject> extends AsyncIterable<WatchEvent<T>> {
  close(): void;
}
