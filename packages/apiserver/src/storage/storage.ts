/**
 * A revision of the whole store. Revisions rise by at least one with each write, are never reused, also not after a
 * crash, and start above 0. Only this folder computes with them: elsewhere a revision is opaque text.
 */
export type Revision = number & { readonly __brand: "Revision" };

/** One key as it stands at some revision. Values are bytes encoded once; nobody changes them in place. */
export interface StoredRecord {
  readonly key: string;
  readonly value: Uint8Array;
  /** Revision of the last write to this key. */
  readonly modRevision: Revision;
  /** Revision at which this key came into being. */
  readonly createRevision: Revision;
}

/** One write in the history. `previous` is what a selector needs to tell "left" and "entered" from "changed". */
export type StorageEvent =
  | {
      readonly type: "put";
      readonly revision: Revision;
      readonly record: StoredRecord;
      readonly previous: StoredRecord | undefined;
    }
  | {
      readonly type: "delete";
      readonly revision: Revision;
      readonly key: string;
      readonly previous: StoredRecord;
    };

/** A step of a watch: the events after the last step, in revision order. */
export interface WatchBatch {
  readonly events: readonly StorageEvent[];
  /** The watch is complete up to here, for its prefix: a bookmark may name this revision. */
  readonly progress: Revision;
}

export interface ListOptions {
  readonly prefix: string;
  /** Most records to return; no limit when absent. */
  readonly limit?: number;
  /** Return only keys after this one, in byte order. */
  readonly after?: string;
  /** Read the state as of this revision; the newest when absent. */
  readonly revision?: Revision;
}

export interface ListResult {
  readonly records: readonly StoredRecord[];
  /** The revision that was read. */
  readonly revision: Revision;
  /** How many more keys with the prefix stand behind the last one returned. */
  readonly remaining: number;
}

/** What became of a write. Losing a race is an expected outcome, not an exception. */
export type WriteResult =
  | { readonly outcome: "written"; readonly revision: Revision }
  /** `create` on a key that exists, or a write that names another revision than the key's; with what stands there. */
  | { readonly outcome: "conflict"; readonly current: StoredRecord | undefined };

/**
 * The revisioned store under the API server: one truth, a bounded history, watches.
 *
 * A write is acknowledged only when it is durable. Reads see every acknowledged write. Keys order by their bytes.
 */
export interface Storage extends AsyncDisposable {
  /** The newest revision that readers see. */
  revision(): Revision;
  /**
   * The events up to and including this revision have been forgotten: a list at an older revision and a watch from an
   * older one fail. In a new store it is `revision()`.
   */
  compactedRevision(): Revision;

  get(key: string): Promise<StoredRecord | undefined>;
  /** @throws StorageError `Compacted`, `FutureRevision`, `Closed`. */
  list(options: ListOptions): Promise<ListResult>;
  /**
   * Writes only if there is no such key. The store keeps `value` itself: the caller must not change it afterwards.
   * @throws StorageError `Closed`, `Full`, `Broken`, `Busy`, `TooLarge`, `InvalidKey`; so do `update` and `delete`.
   */
  create(key: string, value: Uint8Array): Promise<WriteResult>;
  /** Writes only if the key's `modRevision` is `expected`. */
  update(key: string, value: Uint8Array, expected: Revision): Promise<WriteResult>;
  /** Deletes only if the key's `modRevision` is `expected`. */
  delete(key: string, expected: Revision): Promise<WriteResult>;
  /**
   * Follows the writes with a revision above `after`, without gap or duplicate. It ends without error when the signal
   * aborts, when the store closes, and when the reader falls so far behind that its bounded buffer overflows: the
   * reader then watches again from its last revision. A revision in the future is waited for.
   *
   * The watch is registered by the call, not by the first read. Its first batch comes at once (empty where there is
   * nothing to catch up with, but only once `after` is reached); later an empty batch tells progress of a quiet prefix
   * every few seconds, as long as the store moves. One reader at a time.
   * @throws StorageError at the call: `Compacted` when the history after `after` is gone, `Closed`. From `next`:
   * `Compacted` when the history is compacted away before a reader that is still catching up has come to it.
   */
  watch(options: {
    readonly prefix: string;
    readonly after: Revision;
    readonly signal: AbortSignal;
  }): AsyncIterable<WatchBatch>;
  /**
   * Forgets the events up to and including `revision`. Lists at an older revision (pages that are still open) and
   * watches from an older one then fail; the state at `revision` itself stays readable, as in etcd. A revision that
   * is compacted already is fine. Durable when it resolves.
   * @throws StorageError `FutureRevision`.
   */
  compact(revision: Revision): Promise<void>;
}

/** What a store can fail with; causes and remedies stand in the README's table. */
export type StorageErrorCode =
  /** The history that a list or a watch needs was compacted. List again. */
  | "Compacted"
  /** A revision that this store has not reached. */
  | "FutureRevision"
  /** The store was closed. */
  | "Closed"
  /** What stands on the disk is not what was written. */
  | "Corrupt"
  /** Another process has the folder open. */
  | "Locked"
  /** The size limit of the store, or the disk, is reached. Deletions still go through. */
  | "Full"
  /** A write or a sync failed, so nothing is known of the writes under way; no more are taken until it is reopened. */
  | "Broken"
  /** More bytes wait for the disk than the store keeps. Try again in a moment. */
  | "Busy"
  /** The value is over the limit of one record. */
  | "TooLarge"
  /** The key is empty, too long, or no well-formed text. */
  | "InvalidKey"
  /** The folder cannot be made, read or written by this user. */
  | "NoAccess";

/** A failure of the store that its caller cannot go on from. */
export class StorageError extends Error {
  override readonly name = "StorageError";
  readonly code: StorageErrorCode;
  constructor(code: StorageErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
