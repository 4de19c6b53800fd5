import type { RecordTree } from "./record-tree.ts";
import type { Revision, StorageEvent } from "./storage.ts";

/** What becomes durable in one step: all of it or nothing. */
export interface CommitGroup {
  /** In revision order, without a gap after the group before. */
  readonly events: readonly StorageEvent[];
  /** The history up to here is forgotten. Never beyond the newest revision before this group. */
  readonly compacted: Revision | undefined;
}

/** The store as a journal found it at opening. */
export interface RecoveredState {
  readonly compacted: Revision;
  /** The events after `compacted`, in revision order without a gap. */
  readonly events: readonly StorageEvent[];
  /** The state after the last of them. */
  readonly tree: RecordTree;
}

/**
 * Where the store keeps what must survive: the seam between the revisioned store and a disk.
 *
 * The store calls `commit` for one group at a time and keeps the whole state and its history in memory, so a journal
 * is written always and read only when it is opened.
 */
export interface Journal extends AsyncDisposable {
  /**
   * Resolves once the group is durable. A rejection with StorageError `Full` promises that nothing of it was kept;
   * any other rejection leaves that open, and the store writes no more.
   */
  commit(group: CommitGroup): Promise<void>;
  /** Octets of keys and values that can be written before the journal is full. */
  roomBytes(): number;
  /** Told after each group became visible, with the state; for snapshots. Must not throw. */
  committed(state: CommittedState): void;
}

/** The newest durable state, as the store hands it to its journal. Both functions answer for the moment of the call. */
export interface CommittedState {
  readonly compacted: Revision;
  readonly revision: Revision;
  /** The state at `compacted`. */
  readonly baseTree: () => RecordTree;
  /** The events after `compacted`. */
  readonly events: () => readonly StorageEvent[];
}

/** Keeps nothing: for a store whose data ends with the process. */
export const forgetfulJournal: Journal = {
  commit: () => Promise.resolve(),
  roomBytes: () => Number.POSITIVE_INFINITY,
  committed() {},
  [Symbol.asyncDispose]: () => Promise.resolve(),
};
