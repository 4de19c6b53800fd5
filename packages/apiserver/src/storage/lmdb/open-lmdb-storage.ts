import type { Runtime } from "@meridian/runtime";
import { open } from "lmdb";
import type { Database, RootDatabase } from "lmdb";
import { compareKeys } from "../key-order.ts";
import type { RecoveredState } from "../journal.ts";
import { RecordTree } from "../record-tree.ts";
import { defaultRetention } from "../retention.ts";
import type { RetentionPolicy } from "../retention.ts";
import { RevisionStore } from "../revision-store.ts";
import { StorageError } from "../storage.ts";
import type { Revision, Storage, StorageEvent, StoredRecord } from "../storage.ts";
import { looksLikeLmdb } from "./data-file.ts";
import { ownerRuns, thisProcess } from "./folder-owner.ts";
import type { FolderOwner } from "./folder-owner.ts";
import { LmdbJournal, readPosition, writePosition } from "./lmdb-journal.ts";
import type { LmdbTables, Position } from "./lmdb-journal.ts";
import { decodeRecord, decodeUndo } from "./stored-bytes.ts";

/** Where an LMDB store stands, and how much history it keeps. */
export interface LmdbStorageOptions {
  /** The folder of the environment. It is created where it is absent. */
  readonly path: string;
  /** Limit of what state and history take on the disk; 2 GiB by default, as etcd's quota. At it writes get `Full`. */
  readonly sizeBytesMax?: number;
  /** How much history is kept. */
  readonly retention?: Partial<RetentionPolicy>;
}

const format = "meridian storage 1";
const formatKey: Buffer = Buffer.from("format");
const ownerKey: Buffer = Buffer.from("owner");

/**
 * Opens a store that is kept in LMDB. Its state and history are also held in memory, where all reads are answered; the
 * folder is read once, here.
 *
 * One process at a time: the folder names its owner, and the entry of an owner that was killed is taken over.
 * @throws StorageError `Locked`, `Corrupt`, `NoAccess`, `Broken`.
 */
export async function openLmdbStorage(runtime: Runtime, options: LmdbStorageOptions): Promise<Storage> {
  const { path } = options;
  const sizeBytesMax = options.sizeBytesMax ?? 2 * 1_024 * 1_024 * 1_024;
  if (!looksLikeLmdb(path)) throw corrupt(path, "its data.mdb was not written by LMDB");
  const tables = openTables(path, sizeBytesMax);
  const self = thisProcess(runtime.clock.now());
  let owns = false;
  try {
    takeFolder(tables, { path, self });
    owns = true;
    const position = layOut(tables, path);
    const recovered = load(tables, { path, position });
    tables.root.resetReadTxn();
    const onClose = (): void => releaseFolder(tables);
    return new RevisionStore(runtime, {
      journal: new LmdbJournal(tables, { path, sizeBytesMax, position, onClose }),
      recovered,
      retention: {
        ...defaultRetention,
        bytesMax: Math.min(defaultRetention.bytesMax, Math.floor(sizeBytesMax / 4)),
        ...options.retention,
      },
    });
  } catch (error) {
    try {
      if (owns) releaseFolder(tables);
      await tables.root.close();
    } catch {
      // On a full disk that fails, too; the next one to open takes the folder over.
    }
    throw diskProblem(path, error) ?? error;
  }
}

function openTables(path: string, sizeBytesMax: number): LmdbTables {
  try {
    const root = open<Buffer, Buffer>({
      path,
      // Without it a folder with a dot in its name would be taken for a file.
      noSubdir: false,
      encoding: "binary",
      keyEncoding: "binary",
      // Address space, not disk. The limit itself is kept by the journal, since this library grows a full map.
      mapSize: sizeBytesMax + Math.max(sizeBytesMax / 4, 64 * 1_024 * 1_024),
      maxDbs: 3,
      overlappingSync: false,
      // The journal's batches are the transactions; the library must not add its own around them.
      eventTurnBatching: false,
      cache: false,
    });
    return {
      root,
      state: openTable(root, "state"),
      history: openTable(root, "history"),
      meta: openTable(root, "meta"),
    };
  } catch (cause) {
    throw explainOpening(path, cause);
  }
}

function openTable(root: RootDatabase<Buffer, Buffer>, name: string): Database<Buffer, Buffer> {
  return root.openDB<Buffer, Buffer>({ name, encoding: "binary", keyEncoding: "binary", cache: false });
}

/** Looks at the owner and replaces it in one write transaction, which LMDB makes exclusive among all processes. */
function takeFolder(tables: LmdbTables, options: { path: string; self: FolderOwner }): void {
  const { root, meta } = tables;
  const { path, self } = options;
  const holders = lockHolders(root);
  const other = root.transactionSync(() => {
    const bytes = meta.get(ownerKey);
    const owner = bytes === undefined ? undefined : (JSON.parse(bytes.toString("utf8")) as FolderOwner);
    if (owner !== undefined && ownerRuns(owner, self, holders)) return owner;
    meta.putSync(ownerKey, Buffer.from(JSON.stringify(self)));
    return undefined;
  });
  if (other !== undefined) {
    const who = other.pid === self.pid ? "this process" : `process ${other.pid} on ${other.host}`;
    throw new StorageError(
      "Locked",
      `cannot open the data folder ${path}: ${who} has it open since ${other.since}; ` +
        "stop that one first, or use another folder",
    );
  }
}

function releaseFolder(tables: LmdbTables): void {
  tables.meta.removeSync(ownerKey);
}

/** The pids that hold a lock on the environment's lock file, by LMDB's own table of readers. */
function lockHolders(root: RootDatabase<Buffer, Buffer>): Set<number> {
  root.readerCheck();
  const lines = root.readerList().split("\n");
  return new Set(lines.map((line) => Number.parseInt(line, 10)).filter((pid) => !Number.isNaN(pid)));
}

/** Checks the format, writing it into a new environment, and tells how far the store had come. */
function layOut(tables: LmdbTables, path: string): Position {
  const { root, meta } = tables;
  const found = meta.get(formatKey)?.toString("utf8");
  if (found !== undefined && found !== format) {
    throw corrupt(path, `it is written in the format "${found}", and this version reads "${format}"`);
  }
  const position = readPosition(meta);
  if (found !== undefined && position !== undefined) return position;
  if (found !== undefined || position !== undefined || tables.state.getKeysCount({ limit: 1 }) > 0) {
    throw corrupt(path, "its meta table is incomplete");
  }
  const start: Position = { revision: 1 as Revision, compacted: 1 as Revision };
  root.transactionSync(() => {
    meta.putSync(formatKey, Buffer.from(format));
    writePosition(meta, start);
  });
  return start;
}

/**
 * Reads everything. The history holds previous values only, so what an event wrote is found from behind: the newest
 * write to a key is what the state has, an older one is what the next event on that key replaced.
 */
function load(tables: LmdbTables, options: { path: string; position: Position }): RecoveredState {
  const { path, position } = options;
  const records: StoredRecord[] = [];
  for (const { key, value } of tables.state.getRange({})) {
    const record = decodeRecord(key.toString("utf8"), value);
    const before = records.at(-1);
    if (before !== undefined && compareKeys(before.key, record.key) >= 0) {
      throw corrupt(path, `its keys are out of order at "${record.key}"`);
    }
    records.push(record);
  }
  const tree = RecordTree.fromSorted(records);

  const undos = [...tables.history.getRange({})].map(({ value }) => decodeUndo(value));
  const expected = position.revision - position.compacted;
  if (undos.length !== expected) {
    throw corrupt(path, `its history has ${undos.length} entries where ${expected} belong`);
  }
  const newestFirst: StorageEvent[] = [];
  /** Records as they stood after the event that is looked at, where they differ from the state's. */
  const later = new Map<string, StoredRecord | undefined>();
  for (let i = expected - 1; i >= 0; i--) {
    const { type, key, previous } = undos[i]!;
    const revision = (position.compacted + 1 + i) as Revision;
    const after = later.has(key) ? later.get(key) : tree.get(key);
    later.set(key, previous);
    if (type === "put" && after?.modRevision === revision) {
      newestFirst.push({ type, revision, record: after, previous });
    } else if (type === "delete" && after === undefined && previous !== undefined) {
      newestFirst.push({ type, revision, key, previous });
    } else {
      throw corrupt(path, `revision ${revision} of "${key}" does not fit what follows it`);
    }
  }
  return { compacted: position.compacted, events: newestFirst.toReversed(), tree };
}

function corrupt(path: string, what: string, cause?: unknown): StorageError {
  return new StorageError(
    "Corrupt",
    `cannot read the data folder ${path}: ${what}; restore it from a backup, or move it away to start empty`,
    { cause },
  );
}

/** The disk took no more, which LMDB tells as an I/O error; asynchronous commits hide it in `commitError`. */
function diskProblem(path: string, error: unknown): StorageError | undefined {
  if (!(error instanceof Error)) return undefined;
  const cause = "commitError" in error && error.commitError instanceof Error ? error.commitError : error;
  const isOfDisk = /no space left|input\/output error/i.test(cause.message) || cause !== error;
  return isOfDisk
    ? new StorageError(
        "Broken",
        `cannot write to the data folder ${path} (${cause.message}); free space on its disk, or look after it`,
        { cause: error },
      )
    : undefined;
}

function explainOpening(path: string, cause: unknown): StorageError {
  const message = cause instanceof Error ? cause.message : String(cause);
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  if (
    /EACCES|EPERM|EROFS|ENOTDIR|EEXIST|^(1|13|17|20|30)$/.test(code) ||
    /permission denied|read-only/i.test(message)
  ) {
    return new StorageError(
      "NoAccess",
      `cannot open the data folder ${path} (${message}); give this user write access to it, or use another folder`,
      { cause },
    );
  }
  return diskProblem(path, cause) ?? corrupt(path, message, cause);
}
