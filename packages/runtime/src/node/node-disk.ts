import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readFile, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

import type { Disk, DiskLog, DiskLogOptions } from "../disk.ts";
import { copyOctets, plainOctets } from "./octets.ts";

/** Files that a `replace` had not finished when the process ended; `list` hides them. */
const unfinishedSuffix = ".unfinished";
/** Room made ahead in a log with durable appends: some hundred small ones. */
const reservedBytes = 64 * 1024;
/** Each write waits for the disk. Elsewhere than on Linux this does not reach through the disk's own cache, as a sync does. */
const durableFlag = process.platform === "linux" ? constants.O_DSYNC : undefined;

/** A folder of the local file system. */
export class NodeDisk implements Disk {
  readonly #root: string;
  readonly #lastByPath = new Map<string, Promise<void>>();

  constructor(root: string) {
    this.#root = root;
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    return this.#inOrder(path, async (file) => {
      try {
        return plainOctets(await readFile(file));
      } catch (error) {
        if (isAbsent(error)) return undefined;
        throw error;
      }
    });
  }

  async replace(path: string, content: Uint8Array): Promise<void> {
    const copy = copyOctets(content);
    return this.#inOrder(path, async (file) => {
      await makeFolder(dirname(file));
      const unfinished = file + unfinishedSuffix;
      const handle = await open(unfinished, "w");
      try {
        await handle.writeFile(copy);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(unfinished, file);
      await syncFolder(dirname(file));
    });
  }

  async openLog(path: string, { durableAppends = false }: DiskLogOptions = {}): Promise<DiskLog> {
    return this.#inOrder(path, async (file) => {
      await makeFolder(dirname(file));
      const handle = await open(
        file,
        constants.O_WRONLY | constants.O_CREAT | (durableAppends ? (durableFlag ?? 0) : constants.O_APPEND),
      );
      await syncFolder(dirname(file));
      const { size } = await handle.stat();
      return new NodeDiskLog(path, handle, {
        sizeBytes: size,
        durableAppends,
        inOrder: (work) => this.#inOrder(path, work),
      });
    });
  }

  async remove(path: string): Promise<void> {
    return this.#inOrder(path, async (file) => {
      await rm(file, { force: true });
      const folder = dirname(file);
      if (await exists(folder)) await syncFolder(folder);
    });
  }

  async list(folder: string): Promise<readonly string[]> {
    try {
      const entries = await readdir(this.#locate(folder), { withFileTypes: true });
      return entries
        .filter((entry) => entry.isFile() && !entry.name.endsWith(unfinishedSuffix))
        .map((entry) => entry.name)
        .sort();
    } catch (error) {
      if (isAbsent(error)) return [];
      throw error;
    }
  }

  /** Runs the work of one file after the earlier work of that file. */
  #inOrder<T>(path: string, work: (file: string) => Promise<T>): Promise<T> {
    const file = this.#locate(path);
    const earlier = this.#lastByPath.get(file) ?? Promise.resolve();
    const result = earlier.then(() => work(file));
    const settled = result.then(
      () => {},
      () => {},
    );
    this.#lastByPath.set(file, settled);
    void settled.then(() => {
      if (this.#lastByPath.get(file) === settled) this.#lastByPath.delete(file);
    });
    return result;
  }

  #locate(path: string): string {
    if (path.startsWith("/") || path.split("/").includes("..")) {
      throw new Error(
        `cannot use the path ${JSON.stringify(path)}: paths are relative to the disk and never leave it`,
      );
    }
    return join(this.#root, path);
  }
}

interface LogOptions {
  readonly sizeBytes: number;
  readonly durableAppends: boolean;
  readonly inOrder: <T>(work: () => Promise<T>) => Promise<T>;
}

class NodeDiskLog implements DiskLog {
  readonly #path: string;
  readonly #handle: FileHandle;
  readonly #inOrder: LogOptions["inOrder"];
  readonly #durableAppends: boolean;
  #sizeBytes: number;
  /** What the file has on the disk, room made ahead included; only for durable appends. */
  #reservedToBytes: number;
  #closed = false;
  #failure: unknown;
  /** The sync that waits for its turn, and that later calls may share as long as nothing was appended since. */
  #waitingSync: Promise<void> | undefined;

  constructor(path: string, handle: FileHandle, options: LogOptions) {
    this.#path = path;
    this.#handle = handle;
    this.#sizeBytes = options.sizeBytes;
    this.#inOrder = options.inOrder;
    this.#durableAppends = options.durableAppends;
    this.#reservedToBytes = options.sizeBytes;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  async append(bytes: Uint8Array): Promise<void> {
    this.#checkOpen();
    const copy = copyOctets(bytes);
    const atBytes = this.#sizeBytes;
    this.#sizeBytes += copy.length;
    this.#waitingSync = undefined;
    return this.#write(() =>
      this.#durableAppends ? this.#writeDurably(copy, atBytes) : this.#handle.appendFile(copy),
    );
  }

  async sync(): Promise<void> {
    this.#checkOpen();
    this.#waitingSync ??= this.#write(async () => {
      this.#waitingSync = undefined;
      await this.#handle.datasync();
    });
    return this.#waitingSync;
  }

  async truncate(sizeBytes: number): Promise<void> {
    this.#checkOpen();
    this.#sizeBytes = Math.min(this.#sizeBytes, sizeBytes);
    this.#waitingSync = undefined;
    return this.#write(async () => {
      const { size } = await this.#handle.stat();
      if (size > sizeBytes) await this.#handle.truncate(sizeBytes);
      this.#reservedToBytes = Math.min(size, sizeBytes);
      await this.#handle.datasync();
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    return this.#inOrder(() => this.#handle.close());
  }

  /** Into the room made ahead, where that suffices; else with new room behind. */
  async #writeDurably(bytes: Uint8Array, atBytes: number): Promise<void> {
    let content = bytes;
    if (atBytes + bytes.length > this.#reservedToBytes) {
      content = new Uint8Array(bytes.length + reservedBytes);
      content.set(bytes);
    }
    for (let at = 0; at < content.length;)
      at += (await this.#handle.write(content, at, content.length - at, atBytes + at)).bytesWritten;
    this.#reservedToBytes = Math.max(this.#reservedToBytes, atBytes + content.length);
    if (durableFlag === undefined) await this.#handle.datasync();
  }

  /**
   * Writes in order; after a failure nothing is written any more. A kernel may drop the pages of a failed sync and
   * report the next one as fine, so only reading the file again tells what is there.
   */
  #write(work: () => Promise<void>): Promise<void> {
    return this.#inOrder(async () => {
      if (this.#failure !== undefined) {
        throw new Error(`cannot write to ${this.#path}: an earlier write failed; open the log again`, {
          cause: this.#failure,
        });
      }
      try {
        await work();
      } catch (error) {
        this.#failure = error;
        throw error;
      }
    });
  }

  #checkOpen(): void {
    if (this.#closed) throw new Error(`cannot write to ${this.#path}: this log was closed; open it again`);
  }
}

/** Creates a folder with its parents, so that they survive a crash. */
async function makeFolder(folder: string): Promise<void> {
  const firstMade = await mkdir(folder, { recursive: true });
  if (firstMade === undefined) return;
  for (let made = folder; made.length >= firstMade.length; made = dirname(made))
    await syncFolder(dirname(made));
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}
