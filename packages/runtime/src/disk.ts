/**
 * A folder of files with explicit durability: what was not synced may be lost at a crash, and what was synced is not.
 *
 * Paths are relative to the disk's root and use `/`. All operations of one file are applied in the order of the calls.
 */
export interface Disk {
  /** The whole content, or `undefined` where there is no such file. */
  read(path: string): Promise<Uint8Array | undefined>;
  /** Replaces a file so that a crash leaves the old or the new content, and is durable when it resolves. */
  replace(path: string, content: Uint8Array): Promise<void>;
  /** Opens a file for appending, creating it (and its folders) if it is absent. */
  openLog(path: string, options?: DiskLogOptions): Promise<DiskLog>;
  /** Removes a file; an absent one is fine. Durable when it resolves. */
  remove(path: string): Promise<void>;
  /** Names of the files directly in `folder` (`""` is the root), sorted. */
  list(folder: string): Promise<readonly string[]>;
}

/** How a log is opened. */
export interface DiskLogOptions {
  /**
   * Each append is durable when it resolves, in one operation of the disk instead of two. Room is made ahead, since a file
   * that grows costs more than one that is overwritten: behind what was appended it may have zeros, which `read` shows and
   * which count as content when it is opened again. Default false
   */
  readonly durableAppends?: boolean;
}

/** A file that only grows. */
export interface DiskLog {
  /** Size in bytes, appended but unsynced bytes included. */
  readonly sizeBytes: number;
  /** Appends bytes. They are visible to `read` when it resolves and durable after the next `sync`. */
  append(bytes: Uint8Array): Promise<void>;
  /** Resolves when everything appended before the call is durable. */
  sync(): Promise<void>;
  /** Cuts the file, for a torn tail found at start. Durable when it resolves. */
  truncate(sizeBytes: number): Promise<void>;
  close(): Promise<void>;
}
