import type { Logger } from "@meridian/runtime";
import type { CommitGroup, CommittedState, Journal, RecoveredState } from "../journal.ts";
import { StorageError } from "../storage.ts";
import { encodeGroup } from "./log-entry.ts";
import { createLog, recoverLog } from "./log-recovery.ts";
import type { OpenLog, RecoveryContext } from "./log-recovery.ts";
import { encodeManifest, logFile, manifestFile, snapshotFile } from "./manifest.ts";
import type { Manifest } from "./manifest.ts";
import { writeSnapshot } from "./snapshot.ts";

export interface WriteAheadJournalOptions {
  /** A snapshot is due when the logs have grown by this much, or by the size of the last snapshot if that is more. */
  readonly logBytesMin: number;
}

/** A state to be snapshot, and the revision that the next log starts after. */
interface Rotation {
  readonly state: CommittedState;
  readonly baseTree: ReturnType<CommittedState["baseTree"]>;
  readonly events: ReturnType<CommittedState["events"]>;
}

/**
 * A journal in append-only files on the runtime's disk.
 *
 * Each group is one frame of the current log, followed by one sync. When the logs have grown enough, the next group
 * goes into a new log, and the state before it is written as a snapshot beside the running writes; then the manifest
 * names the snapshot and the new log, and the older files go. A crash at any point leaves a manifest whose files are
 * all there:
 *
 * ```text
 * manifest: no snapshot, logs from 1          log 1
 * rotate:                                     log 1, log 2 (header), snapshot 2 grows
 * manifest: snapshot 2, logs from 2           log 2, snapshot 2
 * ```
 */
export class WriteAheadJournal implements Journal {
  readonly #context: RecoveryContext;
  readonly #log: Logger;
  readonly #options: WriteAheadJournalOptions;
  #manifest: Manifest;
  #current: OpenLog;
  /** Bytes in the logs since the last snapshot. */
  #loggedBytes: number;
  /** Size of the log up to its last durable group. */
  #durableBytes: number;
  #rotation: Rotation | undefined;
  #snapshotting: Promise<void> | undefined;

  private constructor(
    context: RecoveryContext,
    options: WriteAheadJournalOptions,
    recovered: { manifest: Manifest; log: OpenLog },
  ) {
    this.#context = context;
    this.#log = context.log;
    this.#options = options;
    this.#manifest = recovered.manifest;
    this.#current = recovered.log;
    this.#loggedBytes = recovered.log.disk.sizeBytes;
    this.#durableBytes = recovered.log.disk.sizeBytes;
  }

  /** @throws StorageError `Corrupt`. */
  static async open(
    context: RecoveryContext,
    options: WriteAheadJournalOptions,
  ): Promise<{ journal: WriteAheadJournal; recovered: RecoveredState }> {
    const { manifest, replay, log } = await recoverLog(context);
    return {
      journal: new WriteAheadJournal(context, options, { manifest, log }),
      recovered: replay.result(),
    };
  }

  async commit(group: CommitGroup): Promise<void> {
    const rotation = this.#rotation;
    if (rotation !== undefined) {
      this.#rotation = undefined;
      await this.#rotate(rotation);
    }
    const frame = encodeGroup(group, this.#current.nonce);
    try {
      await this.#current.disk.append(frame);
    } catch (cause) {
      if (!isOutOfSpace(cause)) throw cause;
      await this.#cutUnfinishedGroup();
      throw new StorageError("Full", "cannot write to the log: the disk is full; free space on it", {
        cause,
      });
    }
    await this.#current.disk.sync();
    this.#durableBytes += frame.length;
    this.#loggedBytes += frame.length;
  }

  roomBytes(): number {
    return Number.POSITIVE_INFINITY;
  }

  committed(state: CommittedState): void {
    const dueAt = Math.max(this.#options.logBytesMin, this.#manifest.snapshot?.sizeBytes ?? 0);
    if (this.#loggedBytes < dueAt || this.#snapshotting !== undefined || this.#rotation !== undefined) return;
    this.#rotation = { state, baseTree: state.baseTree(), events: state.events() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#snapshotting;
    await this.#current.disk.close();
  }

  /**
   * Takes away what part of a group stands in the file, since the next group must follow the last whole one. A log
   * takes no more work after a failed write, so it is opened anew.
   */
  async #cutUnfinishedGroup(): Promise<void> {
    const { number, nonce } = this.#current;
    await this.#current.disk.close().catch(() => {});
    const disk = await this.#context.disk.openLog(`${this.#context.folder}/${logFile(number)}`);
    this.#current = { number, nonce, disk };
    await disk.truncate(this.#durableBytes);
  }

  async #rotate(rotation: Rotation): Promise<void> {
    const finished = this.#current;
    const { revision, compacted } = rotation.state;
    this.#current = await createLog(this.#context, { number: finished.number + 1, revision, compacted });
    this.#durableBytes = this.#current.disk.sizeBytes;
    this.#loggedBytes = this.#current.disk.sizeBytes;
    await finished.disk.close();
    this.#snapshotting = this.#snapshot(rotation, this.#current.number)
      .catch((error: unknown) => {
        // The logs still hold everything; the next rotation tries again, and what was written goes at the next start.
        this.#log.warn("could not write a snapshot; the logs are kept", { error: String(error) });
      })
      .finally(() => (this.#snapshotting = undefined));
  }

  async #snapshot(rotation: Rotation, number: number): Promise<void> {
    const { disk, folder } = this.#context;
    const before = this.#manifest;
    const sizeBytes = await writeSnapshot(disk, `${folder}/${snapshotFile(number)}`, {
      nonce: this.#context.nonce(),
      revision: rotation.state.revision,
      compacted: rotation.state.compacted,
      baseTree: rotation.baseTree,
      events: rotation.events,
    });
    const manifest: Manifest = { snapshot: { file: snapshotFile(number), sizeBytes }, firstLog: number };
    await disk.replace(`${folder}/${manifestFile}`, encodeManifest(manifest));
    this.#manifest = manifest;
    for (let old = before.firstLog; old < number; old++) await disk.remove(`${folder}/${logFile(old)}`);
    if (before.snapshot !== undefined) await disk.remove(`${folder}/${before.snapshot.file}`);
  }
}

function isOutOfSpace(cause: unknown): boolean {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  return code === "ENOSPC" || code === "EDQUOT";
}
