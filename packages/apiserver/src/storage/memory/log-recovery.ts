import type { Disk, DiskLog, Logger } from "@meridian/runtime";
import { StorageError } from "../storage.ts";
import type { Revision } from "../storage.ts";
import { findFrame, frameHeaderBytes, readFrame } from "./frame.ts";
import { decodeEntry, encodeHeader } from "./log-entry.ts";
import type { LogEntry } from "./log-entry.ts";
import { decodeManifest, encodeManifest, logFile, manifestFile } from "./manifest.ts";
import type { Manifest } from "./manifest.ts";
import { Replay } from "./replay.ts";

/** A log that is open for the next group. */
export interface OpenLog {
  readonly number: number;
  readonly nonce: number;
  readonly disk: DiskLog;
}

export interface Recovery {
  readonly manifest: Manifest;
  readonly replay: Replay;
  readonly log: OpenLog;
}

/** What recovery works with. */
export interface RecoveryContext {
  readonly disk: Disk;
  readonly folder: string;
  readonly log: Logger;
  /** A new nonce for a new log. */
  readonly nonce: () => number;
}

/**
 * Reads what a store left on a disk, or lays out a new one.
 *
 * Expected: `manifest.json` names a snapshot (or none, for a young store) and the first log after it; logs are numbered
 * without a gap. Every frame is sound, except that the last log may end in the remains of one group whose sync a crash
 * interrupted: nobody was told of that group, so it is cut off. Anything else unsound is `Corrupt`, as are files that
 * the manifest promises and that are missing.
 *
 * What cannot be told from a torn tail: damage to the very last group that was acknowledged.
 */
export async function recoverLog(context: RecoveryContext): Promise<Recovery> {
  const { disk, folder } = context;
  const files = new Set(await disk.list(folder));
  const manifestBytes = await disk.read(`${folder}/${manifestFile}`);
  if (manifestBytes === undefined) return createStore(context, files);

  const manifest = decodeManifest(manifestBytes);
  if (manifest === undefined)
    throw corrupt({ path: `${folder}/${manifestFile}`, offset: 0 }, "it is not what was written");

  const replay = await readSnapshot(context, manifest);
  const last = Math.max(manifest.firstLog, ...[...files].map(logNumber));
  let log: OpenLog | undefined;
  for (let number = manifest.firstLog; number <= last; number++) {
    log = await readLog(context, { number, manifest, last, replay });
  }
  await removeStale(context, { files, manifest, last });
  return { manifest, replay, log: log! };
}

/** Starts log `number` with its header, durable. */
export async function createLog(
  context: RecoveryContext,
  options: { number: number; revision: Revision; compacted: Revision },
): Promise<OpenLog> {
  const nonce = context.nonce();
  const log = await context.disk.openLog(`${context.folder}/${logFile(options.number)}`);
  if (log.sizeBytes > 0) await log.truncate(0);
  await log.append(encodeHeader({ nonce, revision: options.revision, compacted: options.compacted }));
  await log.sync();
  return { number: options.number, nonce, disk: log };
}

/** A new store: revision 1, as in etcd, and no history before it. */
const start = { revision: 1 as Revision, compacted: 1 as Revision };
const headerBytes = encodeHeader({ nonce: 0, ...start }).length;

async function createStore(context: RecoveryContext, files: ReadonlySet<string>): Promise<Recovery> {
  // A crash may have left the first log and no manifest. Only the header can be in it: groups come after the manifest.
  const first = await context.disk.read(`${context.folder}/${logFile(1)}`);
  const leftovers = [...files].filter((file) => file !== logFile(1) && isOurs(file));
  if (leftovers.length > 0 || (first !== undefined && first.byteLength > headerBytes)) {
    throw corrupt(
      { path: `${context.folder}/${manifestFile}`, offset: 0 },
      "it is missing, though the data beside it is there",
    );
  }
  const log = await createLog(context, { number: 1, ...start });
  const manifest: Manifest = { snapshot: undefined, firstLog: 1 };
  await context.disk.replace(`${context.folder}/${manifestFile}`, encodeManifest(manifest));
  return { manifest, replay: new Replay(start), log };
}

async function readSnapshot(context: RecoveryContext, manifest: Manifest): Promise<Replay> {
  if (manifest.snapshot === undefined) return new Replay(start);
  const path = `${context.folder}/${manifest.snapshot.file}`;
  const file = await readWhole(context.disk, path);
  if (file.length !== manifest.snapshot.sizeBytes) {
    throw corrupt(
      { path, offset: file.length },
      `it has ${file.length} octets instead of ${manifest.snapshot.sizeBytes}`,
    );
  }
  const header = readHeader(file);
  if (header === undefined) throw corrupt({ path, offset: 0 }, "its header has a wrong checksum");
  const replay = new Replay({ revision: header.compacted, compacted: header.compacted });
  const end = replayFrames(path, { file, nonce: header.nonce, replay });
  if (end !== file.length) throw corrupt({ path, offset: end }, "wrong checksum");
  if (replay.revision !== header.revision) throw corrupt({ path, offset: end }, "its end is missing");
  return replay;
}

async function readLog(
  context: RecoveryContext,
  options: { number: number; manifest: Manifest; last: number; replay: Replay },
): Promise<OpenLog> {
  const { number, replay } = options;
  const isLast = number === options.last;
  const path = `${context.folder}/${logFile(number)}`;
  const file = await readWhole(context.disk, path);
  const header = readHeader(file);
  if (header === undefined) {
    // Its header is synced before anything else is; a last log without one was being made when the crash came.
    // The manifest names a log only after that.
    const isUnborn = isLast && number > options.manifest.firstLog && file.length <= headerBytes;
    if (!isUnborn) throw corrupt({ path, offset: 0 }, "its header has a wrong checksum");
    return createLog(context, { number, revision: replay.revision, compacted: replay.compacted });
  }
  apply(path, { offset: 0, entry: header, replay });
  const end = replayFrames(path, { file, nonce: header.nonce, replay });
  const log = isLast ? await context.disk.openLog(path) : undefined;
  if (end < file.length) {
    const later = findFrame(file, end + 1, header.nonce);
    if (log === undefined || later !== undefined)
      throw corrupt({ path, offset: end }, "wrong checksum, with sound data behind it");
    context.log.warn("cut off the unfinished end of a log: no write in it was acknowledged", {
      path,
      offset: end,
      bytes: file.length - end,
    });
    await log.truncate(end);
  }
  // A process that was killed may have left its last group written but not synced. From now on readers see it, so it
  // must be durable first.
  await log?.sync();
  return { number, nonce: header.nonce, disk: log! };
}

/** Applies the frames behind the header; returns where the first unsound one starts, or the size of the file. */
function replayFrames(path: string, options: { file: Buffer; nonce: number; replay: Replay }): number {
  const { file, nonce, replay } = options;
  let offset = frameHeaderBytes + (readFrame(file, 0, 0)?.length ?? 0);
  for (;;) {
    const payload = readFrame(file, offset, nonce);
    if (payload === undefined) return offset;
    let entry: LogEntry;
    try {
      entry = decodeEntry(payload);
    } catch (cause) {
      throw corrupt({ path, offset }, messageOf(cause), cause);
    }
    apply(path, { offset, entry, replay });
    offset += frameHeaderBytes + payload.length;
  }
}

function apply(path: string, options: { offset: number; entry: LogEntry; replay: Replay }): void {
  try {
    options.replay.apply(options.entry);
  } catch (cause) {
    throw corrupt({ path, offset: options.offset }, messageOf(cause), cause);
  }
}

function readHeader(file: Buffer): (LogEntry & { kind: "header" }) | undefined {
  const payload = readFrame(file, 0, 0);
  if (payload === undefined) return undefined;
  const entry = decodeEntry(payload);
  return entry.kind === "header" ? entry : undefined;
}

async function readWhole(disk: Disk, path: string): Promise<Buffer> {
  const bytes = await disk.read(path);
  if (bytes === undefined) throw corrupt({ path, offset: 0 }, "the file is missing");
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Files of an older manifest, or of a snapshot that was not finished. */
async function removeStale(
  context: RecoveryContext,
  options: { files: ReadonlySet<string>; manifest: Manifest; last: number },
): Promise<void> {
  const { files, manifest, last } = options;
  const kept = new Set([manifestFile, manifest.snapshot?.file]);
  for (let number = manifest.firstLog; number <= last; number++) kept.add(logFile(number));
  for (const file of files)
    if (isOurs(file) && !kept.has(file)) await context.disk.remove(`${context.folder}/${file}`);
}

function logNumber(file: string): number {
  return file.startsWith("log-") && isOurs(file) ? Number(file.slice("log-".length)) : 0;
}

function isOurs(file: string): boolean {
  return /^(log|snapshot)-\d{10}$/.test(file);
}

function corrupt(at: { path: string; offset: number }, what: string, cause?: unknown): StorageError {
  return new StorageError(
    "Corrupt",
    `cannot read ${at.path} at offset ${at.offset}: ${what}; restore the folder from a backup, or move it away to start empty`,
    { cause },
  );
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
