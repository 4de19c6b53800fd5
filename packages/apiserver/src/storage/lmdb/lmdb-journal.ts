import type { Database, RootDatabase } from "lmdb";
import type { CommitGroup, Journal } from "../journal.ts";
import { readRevision, revisionBytes, writeRevision } from "../revision-bytes.ts";
import { StorageError } from "../storage.ts";
import type { Revision, StorageEvent } from "../storage.ts";
import { encodeRecord, encodeUndo, revisionKey } from "./stored-bytes.ts";

/** The databases of one environment. */
export interface LmdbTables {
  readonly root: RootDatabase<Buffer, Buffer>;
  /** Key → record. */
  readonly state: Database<Buffer, Buffer>;
  /** Revision → undo. */
  readonly history: Database<Buffer, Buffer>;
  readonly meta: Database<Buffer, Buffer>;
}

/** Revision and compacted revision of the last group, in one value. */
const positionKey: Buffer = Buffer.from("position");

export interface Position {
  readonly revision: Revision;
  readonly compacted: Revision;
}

export function readPosition(meta: Database<Buffer, Buffer>): Position | undefined {
  const bytes = meta.get(positionKey);
  if (bytes === undefined) return undefined;
  return { revision: readRevision(bytes, 0), compacted: readRevision(bytes, revisionBytes) };
}

export function writePosition(meta: Database<Buffer, Buffer>, position: Position): void {
  const bytes = Buffer.allocUnsafe(2 * revisionBytes);
  writeRevision(bytes, position.revision, 0);
  writeRevision(bytes, position.compacted, revisionBytes);
  void meta.put(positionKey, bytes);
}

export interface LmdbJournalOptions {
  readonly path: string;
  readonly sizeBytesMax: number;
  readonly position: Position;
  /** Called by disposal, before the environment closes. */
  readonly onClose: () => void;
}

/**
 * A journal in an LMDB environment: one transaction per group.
 *
 * The environment is opened without overlapping syncs: LMDB then writes the pages, syncs them, and only then writes
 * the page that makes them count (through a descriptor opened O_DSYNC), all before the commit resolves. `flushed` is
 * awaited on top, the library's name for that promise in either mode.
 */
export class LmdbJournal implements Journal {
  readonly #tables: LmdbTables;
  readonly #options: LmdbJournalOptions;
  #position: Position;
  #usedBytes = 0;
  /** Upper bound of what was added since the use was measured. */
  #addedBytes = 0;

  constructor(tables: LmdbTables, options: LmdbJournalOptions) {
    this.#tables = tables;
    this.#options = options;
    this.#position = options.position;
    this.#measure();
  }

  async commit(group: CommitGroup): Promise<void> {
    const { root, state, history, meta } = this.#tables;
    const last = group.events.at(-1)?.revision ?? this.#position.revision;
    const compacted = group.compacted ?? this.#position.compacted;
    // Promises of single writes inside a batch never settle on their own; the batch's does.
    const done = root.batch(() => {
      for (const event of group.events) {
        if (event.type === "put") void state.put(Buffer.from(event.record.key), encodeRecord(event.record));
        else void state.remove(Buffer.from(event.key));
        void history.put(revisionKey(event.revision), encodeUndo(event));
        this.#addedBytes += pagesBytes(event);
      }
      for (let revision = this.#position.compacted + 1; revision <= compacted; revision++) {
        void history.remove(revisionKey(revision));
      }
      writePosition(meta, { revision: last, compacted });
    });
    try {
      await done;
      await root.flushed;
    } catch (failure) {
      throw await this.#explain(failure);
    }
    const isCompaction = compacted > this.#position.compacted;
    this.#position = { revision: last, compacted };
    // Near the limit each group is measured, else one in a while.
    if (isCompaction || this.#addedBytes * 16 > this.#options.sizeBytesMax - this.#usedBytes) this.#measure();
  }

  roomBytes(): number {
    return this.#options.sizeBytesMax - this.#usedBytes - this.#addedBytes;
  }

  committed(): void {}

  async [Symbol.asyncDispose](): Promise<void> {
    const { root } = this.#tables;
    await root.flushed;
    this.#options.onClose();
    await root.close();
  }

  /** Counts the pages in use. Free pages of the file do not count: LMDB takes them again. */
  #measure(): void {
    const { root, state, history } = this.#tables;
    let pages = 0;
    let pageSize = 4_096;
    for (const table of [state, history]) {
      const stats = table.getStats() as TableStats;
      pages += stats.treeBranchPageCount + stats.treeLeafPageCount + stats.overflowPages;
      pageSize = stats.pageSize;
    }
    root.resetReadTxn();
    this.#usedBytes = pages * pageSize;
    this.#addedBytes = 0;
  }

  async #explain(failure: unknown): Promise<unknown> {
    const cause: unknown = await rootCauseOf(failure);
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code !== outOfSpaceErrno && code !== mapFullCode) return cause;
    // LMDB gave the transaction up before the page that would have made it count: nothing of it is kept.
    return new StorageError(
      "Full",
      `cannot write to ${this.#options.path}: ${code === mapFullCode ? "its map" : "the disk"} is full; ` +
        "free space on the disk or raise the size limit",
      { cause },
    );
  }
}

interface TableStats {
  readonly pageSize: number;
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
}

/** ENOSPC as errno, and MDB_MAP_FULL. */
const outOfSpaceErrno = 28;
const mapFullCode = -30_792;

/** The library rejects with an error that carries a promise of the real one. */
async function rootCauseOf(failure: unknown): Promise<unknown> {
  if (!(failure instanceof Error) || !("commitError" in failure)) return failure;
  try {
    await failure.commitError;
    return failure;
  } catch (cause) {
    return cause;
  }
}

/** Whole pages for what an event adds: the record, the undo, and a share of branch pages. */
function pagesBytes(event: StorageEvent): number {
  const written = event.type === "put" ? event.record.value.byteLength : 0;
  return wholePages(written) + wholePages(event.previous?.value.byteLength ?? 0) + 512;
}

function wholePages(bytes: number): number {
  return bytes < 1_500 ? bytes * 2 : Math.ceil((bytes + 64) / 4_096) * 4_096;
}
