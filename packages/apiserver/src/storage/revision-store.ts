import type { Logger, Runtime } from "@meridian/runtime";
import { CommitQueue, queuedBytesMax } from "./commit-queue.ts";
import { History } from "./history.ts";
import type { CommitGroup, Journal, RecoveredState } from "./journal.ts";
import { checkKey, compareKeys } from "./key-order.ts";
import { PastStates } from "./past-states.ts";
import type { RecordTree } from "./record-tree.ts";
import { chooseCompaction } from "./retention.ts";
import type { RetentionPolicy } from "./retention.ts";
import { StorageError } from "./storage.ts";
import type {
  ListOptions,
  ListResult,
  Revision,
  Storage,
  StorageEvent,
  StoredRecord,
  WatchBatch,
  WriteResult,
} from "./storage.ts";
import { WatchHub } from "./watch-hub.ts";

/** Largest value: what etcd takes in one request, and then some. */
const valueBytesMax: number = 4 * 1_024 * 1_024;

/** How often waiting watchers hear how far they are complete. */
const progressEveryMs = 5_000;

export interface RevisionStoreOptions {
  readonly journal: Journal;
  readonly recovered: RecoveredState;
  readonly retention: RetentionPolicy;
}

/**
 * The revisioned store, whatever keeps its data: two immutable trees, a history and the watchers.
 *
 * `pending` is the state after all writes that were taken, `visible` the state after those that are durable. Writes are
 * decided on `pending`, so that many share a sync; readers and watchers know `visible` only. A lost race is told when
 * the write that won is durable, so nobody acts on what a crash may take back.
 */
export class RevisionStore implements Storage {
  readonly #runtime: Runtime;
  readonly #log: Logger;
  readonly #journal: Journal;
  readonly #retention: RetentionPolicy;
  readonly #queue: CommitQueue;
  readonly #history: History;
  readonly #past: PastStates;
  readonly #hub: WatchHub;
  #visible: RecordTree;
  #pending: RecordTree;
  #pendingRevision: Revision;
  #compacting = false;
  #failure: StorageError | undefined;
  #closing: Promise<void> | undefined;
  #cancelTick: () => void = () => {};

  constructor(runtime: Runtime, options: RevisionStoreOptions) {
    const { recovered } = options;
    this.#runtime = runtime;
    this.#log = runtime.log.child({ component: "storage" });
    this.#journal = options.journal;
    this.#retention = options.retention;
    this.#history = new History(recovered.compacted);
    const now = runtime.clock.monotonicMs();
    for (const event of recovered.events) this.#history.append(event, now);
    this.#past = new PastStates(this.#history);
    this.#hub = new WatchHub(this.#history);
    this.#visible = recovered.tree;
    this.#pending = recovered.tree;
    this.#pendingRevision = this.#history.newest;
    this.#queue = new CommitQueue(options.journal, {
      onDurable: (group, tree) => this.#publish(group, tree),
      onFailure: (error) => this.#fail(error),
    });
    this.#tick();
  }

  revision(): Revision {
    return this.#history.newest;
  }

  compactedRevision(): Revision {
    return this.#history.compacted;
  }

  async get(key: string): Promise<StoredRecord | undefined> {
    this.#checkOpen();
    return this.#visible.get(key);
  }

  async list(options: ListOptions): Promise<ListResult> {
    this.#checkOpen();
    const { prefix, after, limit } = options;
    const newest = this.#history.newest;
    const revision = options.revision ?? newest;
    this.#history.checkReadable(revision);
    const tree = revision === newest ? this.#visible : this.#past.at(revision, this.#visible);

    const start = tree.countBelow((key) => {
      return compareKeys(key, prefix) < 0 || (after !== undefined && compareKeys(key, after) <= 0);
    });
    const end = tree.countBelow((key) => compareKeys(key, prefix) < 0 || key.startsWith(prefix));
    const cut = limit === undefined ? end : Math.min(end, start + Math.max(limit, 0));
    if (cut < end && revision === newest) this.#past.keep(revision, tree);
    return { records: tree.slice(start, cut), revision, remaining: Math.max(end - cut, 0) };
  }

  async create(key: string, value: Uint8Array): Promise<WriteResult> {
    this.#checkWritable(key, value);
    const current = this.#pending.get(key);
    if (current !== undefined) return this.#conflict(current);
    const revision = (this.#pendingRevision + 1) as Revision;
    const record: StoredRecord = { key, value, modRevision: revision, createRevision: revision };
    return this.#write({ type: "put", revision, record, previous: undefined });
  }

  async update(key: string, value: Uint8Array, expected: Revision): Promise<WriteResult> {
    this.#checkWritable(key, value);
    const previous = this.#pending.get(key);
    if (previous?.modRevision !== expected) return this.#conflict(previous, key);
    const revision = (this.#pendingRevision + 1) as Revision;
    const record: StoredRecord = {
      key,
      value,
      modRevision: revision,
      createRevision: previous.createRevision,
    };
    return this.#write({ type: "put", revision, record, previous });
  }

  async delete(key: string, expected: Revision): Promise<WriteResult> {
    this.#checkWritable(key, undefined);
    const previous = this.#pending.get(key);
    if (previous?.modRevision !== expected) return this.#conflict(previous, key);
    return this.#write({ type: "delete", revision: (this.#pendingRevision + 1) as Revision, key, previous });
  }

  watch(options: {
    readonly prefix: string;
    readonly after: Revision;
    readonly signal: AbortSignal;
  }): AsyncIterable<WatchBatch> {
    this.#checkOpen();
    return this.#hub.watch(options);
  }

  async compact(revision: Revision): Promise<void> {
    this.#checkOpen();
    if (this.#failure !== undefined) throw this.#failure;
    if (revision > this.#history.newest) this.#history.checkReadable(revision);
    if (revision <= this.#history.compacted) return;
    await this.#queue.compact(revision);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#cancelTick();
    await this.#queue.drained();
    this.#hub.endAll();
    await this.#journal[Symbol.asyncDispose]();
  }

  async #write(event: StorageEvent): Promise<WriteResult> {
    this.#pending =
      event.type === "put" ? this.#pending.with(event.record) : this.#pending.without(event.key);
    this.#pendingRevision = event.revision;
    await this.#queue.write(event, this.#pending);
    return { outcome: "written", revision: event.revision };
  }

  async #conflict(current: StoredRecord | undefined, key = current?.key ?? ""): Promise<WriteResult> {
    if (this.#visible.get(key) !== current) await this.#queue.settled();
    return { outcome: "conflict", current };
  }

  /** Makes a durable group visible: to readers first, then to watchers; the writers hear of it last. */
  #publish(group: CommitGroup, tree: RecordTree = this.#visible): void {
    const before = this.#history.newest;
    const now = this.#runtime.clock.monotonicMs();
    for (const event of group.events) this.#history.append(event, now);
    this.#visible = tree;
    this.#past.advance(before, this.#history.newest, tree);
    this.#hub.publish(group.events);

    if (group.compacted !== undefined && group.compacted > this.#history.compacted) {
      this.#history.compact(group.compacted);
      this.#past.compact(group.compacted);
    }
    this.#compactIfDue(now);
    this.#journal.committed({
      compacted: this.#history.compacted,
      revision: this.#history.newest,
      baseTree: () => this.#past.at(this.#history.compacted, this.#visible),
      events: () => this.#history.all(),
    });
  }

  #compactIfDue(now: number): void {
    if (this.#compacting || this.#closing !== undefined || this.#failure !== undefined) return;
    const revision = chooseCompaction(this.#history, this.#retention, now);
    if (revision === undefined) return;
    this.#compacting = true;
    this.#queue.compact(revision).then(
      () => (this.#compacting = false),
      () => (this.#compacting = false),
    );
  }

  #fail(error: StorageError): void {
    // What was taken but is not durable never happened, as far as anybody was told.
    this.#pending = this.#visible;
    this.#pendingRevision = this.#history.newest;
    if (error.code === "Full") {
      this.#log.error("the store is full", { error: error.message });
      return;
    }
    this.#failure = error;
    this.#log.error("the store takes no more writes", { error: error.message });
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) {
      throw new StorageError("Closed", "cannot use a store that was closed: open it again");
    }
  }

  #checkWritable(key: string, value: Uint8Array | undefined): void {
    this.#checkOpen();
    if (this.#failure !== undefined) throw this.#failure;
    checkKey(key);
    if (value === undefined) return;
    if (value.byteLength > valueBytesMax) {
      throw new StorageError(
        "TooLarge",
        `cannot store ${value.byteLength} octets at "${key}": the limit is ${valueBytesMax}; split the object`,
      );
    }
    const queued = this.#queue.queuedBytes;
    if (queued + value.byteLength > queuedBytesMax) {
      throw new StorageError(
        "Busy",
        `cannot take a write to "${key}": ${queued} octets wait for the disk already; try again in a moment`,
      );
    }
    const room = this.#journal.roomBytes() - queued;
    if (key.length + value.byteLength > room) {
      throw new StorageError(
        "Full",
        `cannot store ${value.byteLength} octets at "${key}": the store is full; delete objects or raise its size limit`,
      );
    }
  }

  #tick(): void {
    this.#cancelTick = this.#runtime.clock.after(progressEveryMs, () => {
      this.#hub.tellProgress();
      this.#compactIfDue(this.#runtime.clock.monotonicMs());
      this.#tick();
    });
  }
}
