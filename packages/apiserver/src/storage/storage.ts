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
  /** Everything up to this revision has been forgotten, save the newest state: reads and watches below it fail. */
  compactedRevision(): Revision;

  get(key: string): Promise<StoredRecord | undefined>;
  /** @throws StorageError `Compacted`, `FutureRevision`. */
  list(options: ListOptions): Promise<ListResult>;
  create(key: string, value: Uint8Array): Promise<WriteResult>;
  /** Writes only if the key's `modRevision` is `expected`. */
  update(key: string, value: Uint8Array, expected: Revision): Promise<WriteResult>;
  /** Deletes only if the key's `modRevision` is `expected`. */
  delete(key: string, expected: Revision): Promise<WriteResult>;
  /**
   * Follows the writes with a revision above `after`, without gap or duplicate. It ends without error when the signal
   * aborts, when the store closes, and when the reader falls so far behind that its bounded buffer overflows: the
   * reader then watches again from its last revision. A revision in the future is waited for.
   * @throws StorageError `Compacted` when the history after `after` is gone.
   */
  watch(options: {
    readonly prefix: string;
    readonly after: Revision;
    readonly signal: AbortSignal;
  }): AsyncIterable<WatchBatch>;
  /** Forgets the history up to and including `revision`. Pages of a list that are open at it then fail. */
  compact(revision: Revision): Promise<void>;
}

export type StorageErrorCode = "Compacted" | "FutureRevision" | "Closed" | "Corrupt" | "Locked" | "Full";

/** A failure of the store that its caller cannot go on from. */
export class StorageError extends Error {
  override readonly name = "StorageError";
  readonly code: StorageErrorCode;
  constructor(code: StorageErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
