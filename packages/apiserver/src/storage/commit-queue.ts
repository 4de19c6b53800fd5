import type { CommitGroup, Journal } from "./journal.ts";
import type { RecordTree } from "./record-tree.ts";
import { StorageError } from "./storage.ts";
import type { Revision, StorageEvent } from "./storage.ts";

/** Most bytes of values in one group; the rest goes into the next. */
const groupBytesMax = 8 * 1_024 * 1_024;
const groupEventsMax = 4_096;

/** Most bytes of values that wait for the disk. */
export const queuedBytesMax: number = 64 * 1_024 * 1_024;

interface Settle {
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

interface OpenGroup {
  readonly events: StorageEvent[];
  readonly waiters: Settle[];
  /** The state after the events; `undefined` while there is none. */
  tree: RecordTree | undefined;
  compacted: Revision | undefined;
  bytes: number;
}

/** What the queue tells its store. */
export interface CommitListener {
  /** A group is durable; `tree` is the state after its events. Called in order, before its waiters hear of it. */
  readonly onDurable: (group: CommitGroup, tree: RecordTree | undefined) => void;
  /** A group and all that were queued behind it will not become durable, or nobody knows. */
  readonly onFailure: (error: StorageError) => void;
}

/**
 * Gathers writes into groups, one sync for each: while one group is on its way to the disk, the next one fills.
 *
 * No write ever waits for others to come: the first goes out at the end of the current turn of the event loop's
 * microtasks, and what comes while the disk works goes out together as soon as it is done.
 *
 * ```text
 * write 1 ─ [1] ─ sync ───────┐
 * write 2, 3, 4 ── [2 3 4] ───┴─ sync ──┐   four writes, two syncs
 * ```
 */
export class CommitQueue {
  readonly #journal: Journal;
  readonly #listener: CommitListener;
  #groups: OpenGroup[] = [];
  #committing: OpenGroup | undefined;
  #scheduled = false;
  #queuedBytes = 0;
  #idle: (() => void)[] = [];

  constructor(journal: Journal, listener: CommitListener) {
    this.#journal = journal;
    this.#listener = listener;
  }

  /** Bytes of values that are not durable yet. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** Queues one event, after which the state is `tree`; resolves when it is durable and visible. */
  write(event: StorageEvent, tree: RecordTree): Promise<void> {
    const bytes = bytesOf(event);
    let group = this.#groups.at(-1);
    if (group === undefined || group.bytes + bytes > groupBytesMax || group.events.length >= groupEventsMax) {
      group = { events: [], waiters: [], tree: undefined, compacted: undefined, bytes: 0 };
      this.#groups.push(group);
    }
    group.events.push(event);
    group.tree = tree;
    group.bytes += bytes;
    this.#queuedBytes += bytes;
    return this.#join(group);
  }

  /** Queues a compaction, as a group of its own where need be. */
  compact(revision: Revision): Promise<void> {
    let group = this.#groups.at(-1);
    if (group === undefined) {
      group = { events: [], waiters: [], tree: undefined, compacted: undefined, bytes: 0 };
      this.#groups.push(group);
    }
    group.compacted = Math.max(group.compacted ?? 0, revision) as Revision;
    return this.#join(group);
  }

  /** Resolves when everything queued up to now is durable and visible. */
  settled(): Promise<void> {
    const last = this.#groups.at(-1) ?? this.#committing;
    return last === undefined ? Promise.resolve() : this.#join(last);
  }

  /** Resolves when nothing is queued any more, whatever became of it. */
  async drained(): Promise<void> {
    while (this.#committing !== undefined || this.#groups.length > 0) {
      await new Promise<void>((resolve) => this.#idle.push(resolve));
    }
  }

  #join(group: OpenGroup): Promise<void> {
    this.#schedule();
    return new Promise((resolve, reject) => group.waiters.push({ resolve, reject }));
  }

  #schedule(): void {
    if (this.#scheduled || this.#committing !== undefined || this.#groups.length === 0) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#commitNext();
    });
  }

  #commitNext(): void {
    if (this.#committing !== undefined) return;
    const group = this.#groups.shift();
    if (group === undefined) {
      for (const resolve of this.#idle.splice(0)) resolve();
      return;
    }
    this.#committing = group;
    this.#journal.commit(group).then(
      () => this.#succeed(group),
      (cause: unknown) => this.#fail(group, cause),
    );
  }

  #succeed(group: OpenGroup): void {
    this.#committing = undefined;
    this.#queuedBytes -= group.bytes;
    this.#listener.onDurable(group, group.tree);
    // The disk gets its next work before anybody digests this result.
    this.#commitNext();
    for (const waiter of group.waiters) waiter.resolve();
  }

  #fail(group: OpenGroup, cause: unknown): void {
    const error =
      cause instanceof StorageError
        ? cause
        : new StorageError(
            "Broken",
            `cannot write to the disk (${cause instanceof Error ? cause.message : String(cause)}); ` +
              "the store takes no more writes: look after the disk, then restart",
            { cause },
          );
    const lost = [group, ...this.#groups.splice(0)];
    this.#committing = undefined;
    this.#queuedBytes = 0;
    this.#listener.onFailure(error);
    for (const each of lost) for (const waiter of each.waiters) waiter.reject(error);
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}

function bytesOf(event: StorageEvent): number {
  return event.type === "put" ? event.record.value.byteLength : 0;
}
