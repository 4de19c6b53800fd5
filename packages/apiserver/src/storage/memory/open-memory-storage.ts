import type { Runtime } from "@meridian/runtime";
import { forgetfulJournal } from "../journal.ts";
import { RecordTree } from "../record-tree.ts";
import { defaultRetention } from "../retention.ts";
import type { RetentionPolicy } from "../retention.ts";
import { RevisionStore } from "../revision-store.ts";
import type { Revision, Storage } from "../storage.ts";
import { WriteAheadJournal } from "./write-ahead-journal.ts";

export interface MemoryStorageOptions {
  /** Keeps the data on `runtime.disk`. Otherwise it ends with the process. */
  readonly persistent: boolean;
  /** Folder on the disk; `storage` by default. */
  readonly folder?: string;
  /** How much history is kept. */
  readonly retention?: Partial<RetentionPolicy>;
  /** Log bytes after which a snapshot is written, at least; 8 MiB by default. */
  readonly snapshotAfterBytes?: number;
}

/**
 * Opens a store that holds everything in memory and, if persistent, in a write-ahead log on the runtime's disk.
 *
 * One process at a time may have the folder open; the disk is not asked to enforce that.
 * @throws StorageError `Corrupt`.
 */
export async function openMemoryStorage(runtime: Runtime, options: MemoryStorageOptions): Promise<Storage> {
  const retention = { ...defaultRetention, ...options.retention };
  if (!options.persistent) {
    return new RevisionStore(runtime, {
      journal: forgetfulJournal,
      recovered: { compacted: firstRevision(runtime), events: [], tree: RecordTree.empty },
      retention,
    });
  }
  const context = {
    disk: runtime.disk,
    folder: options.folder ?? "storage",
    log: runtime.log.child({ component: "storage" }),
    nonce: () => runtime.random.uint32(),
  };
  const opened = await WriteAheadJournal.open(context, {
    logBytesMin: options.snapshotAfterBytes ?? 8 * 1_024 * 1_024,
  });
  return new RevisionStore(runtime, { ...opened, retention });
}

/**
 * Where the revisions of a store without a memory start: at the clock's microseconds. A client that outlives a restart
 * then holds older revisions than the store has and is told to list again; starting at 1 it would wait silently for a
 * revision that comes hours later and miss everything before it.
 */
function firstRevision(runtime: Runtime): Revision {
  return Math.max(1, Math.floor(runtime.clock.now() * 1_000)) as Revision;
}
