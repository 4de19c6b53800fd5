import type { Runtime } from "@meridian/runtime";
import { forgetfulJournal } from "../journal.ts";
import { RecordTree } from "../record-tree.ts";
import { defaultRetention } from "../retention.ts";
import type { RetentionPolicy } from "../retention.ts";
import { RevisionStore } from "../revision-store.ts";
import type { Revision, Storage } from "../storage.ts";

export interface MemoryStorageOptions {
  /** Keeps the data on `runtime.disk`. Otherwise it ends with the process. */
  readonly persistent: boolean;
  readonly retention?: Partial<RetentionPolicy>;
}

/** Opens a store that holds everything in memory. */
export async function openMemoryStorage(runtime: Runtime, options: MemoryStorageOptions): Promise<Storage> {
  const retention = { ...defaultRetention, ...options.retention };
  const compacted = firstRevision(runtime);
  return new RevisionStore(runtime, {
    journal: forgetfulJournal,
    recovered: { compacted, events: [], tree: RecordTree.empty },
    retention,
  });
}

/**
 * Where the revisions of a store without a memory start: at the clock's microseconds. A client that outlives a restart
 * then holds older revisions than the store has and is told to list again; starting at 1 it would wait silently for a
 * revision that comes hours later and miss everything before it.
 */
function firstRevision(runtime: Runtime): Revision {
  return Math.max(1, Math.floor(runtime.clock.now() * 1_000)) as Revision;
}
