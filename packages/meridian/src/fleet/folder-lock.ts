import { link, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { MeridianError } from "../meridian-error.ts";
import { makePrivateFolder } from "./make-folder.ts";
import { readTextIfPresent, systemCodeOf } from "./private-file.ts";

/** Who holds a folder. The start time tells a process from a later one with the same id; only Linux gives it. */
export interface LockHolder {
  readonly pid: number;
  readonly startTime?: string;
  /** The command, for the person who finds the lock. */
  readonly command: string;
}

const lockFileName = "lock";
const attemptsMax = 5;

/**
 * Makes a data folder this process's own until it is released or the process ends: two servers over one store would
 * write past each other. A lock that a dead process left is taken over.
 */
export class FolderLock implements AsyncDisposable {
  readonly #path: string;
  readonly #content: string;
  private constructor(path: string, content: string) {
    this.#path = path;
    this.#content = content;
  }

  /** @throws MeridianError `FolderLocked` when a living process holds it, `FolderUnusable` when it cannot be written. */
  static async acquire(folder: string, command: string): Promise<FolderLock> {
    const path = join(folder, lockFileName);
    const holder: LockHolder = { pid: process.pid, command, ...(await startTimeOf(process.pid)) };
    const content = `${JSON.stringify(holder)}\n`;
    const draft = `${path}.${process.pid}`;
    await usingFolder(folder, async () => {
      await makePrivateFolder(folder);
      await writeFile(draft, content, { mode: 0o600 });
    });
    try {
      for (let attempt = 1; attempt <= attemptsMax; attempt++) {
        // A link appears whole or not at all, so nobody ever reads a lock that is half written.
        if (await succeeds(link(draft, path), "EEXIST")) return new FolderLock(path, content);
        const found = await readTextIfPresent(path);
        if (found === undefined) continue;
        const other = parseHolder(found);
        if (other !== undefined && (await isAlive(other))) throw lockedBy(folder, other);
        await removeStale(path, found);
      }
    } finally {
      await rm(draft, { force: true });
    }
    throw new MeridianError(
      "FolderLocked",
      `cannot lock ${folder}: others start there at the same time; try again, or use another folder with --data`,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if ((await readTextIfPresent(this.#path)) === this.#content) await rm(this.#path, { force: true });
  }
}

/** The living process that holds `folder`, if there is one. */
export async function lockHolder(folder: string): Promise<LockHolder | undefined> {
  const found = await readTextIfPresent(join(folder, lockFileName));
  const holder = found === undefined ? undefined : parseHolder(found);
  return holder !== undefined && (await isAlive(holder)) ? holder : undefined;
}

/** Whether that very process still runs, and not another one that was given its id later. */
export async function isAlive(holder: {
  readonly pid: number;
  readonly startTime?: string;
}): Promise<boolean> {
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    // EPERM: it lives and belongs to somebody else.
    if (systemCodeOf(error) !== "EPERM") return false;
  }
  if (holder.startTime === undefined) return true;
  const now = await startTimeOf(holder.pid);
  return now.startTime === undefined || now.startTime === holder.startTime;
}

/** Two starts may find the same dead lock: what was moved away is checked, and put back if it was a living one. */
async function removeStale(path: string, stale: string): Promise<void> {
  const aside = `${path}.stale.${process.pid}`;
  if (!(await succeeds(rename(path, aside), "ENOENT"))) return;
  if ((await readTextIfPresent(aside)) !== stale) await succeeds(link(aside, path), "EEXIST");
  await rm(aside, { force: true });
}

function lockedBy(folder: string, holder: LockHolder): MeridianError {
  return new MeridianError(
    "FolderLocked",
    `${folder} is in use by process ${holder.pid} (${holder.command}); ` +
      `stop it with "npx meridian down --data ${folder}" or kill ${holder.pid}, or use another folder with --data`,
  );
}

/** Field 22 of `/proc/<pid>/stat` (proc_pid_stat(5)); the command before it may hold spaces and parentheses. */
async function startTimeOf(pid: number): Promise<{ readonly startTime?: string }> {
  const stat = await readTextIfPresent(`/proc/${pid}/stat`);
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  const startTime = fields?.[19];
  return startTime === undefined ? {} : { startTime };
}

function parseHolder(text: string): LockHolder | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && "pid" in value && Number.isInteger(value.pid)) {
      return value as LockHolder;
    }
  } catch {
    // Not ours, or from a disk that lost it: the same as a lock of nobody.
  }
  return undefined;
}

async function usingFolder(folder: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw new MeridianError(
      "FolderUnusable",
      `cannot write to the data folder ${folder} (${systemCodeOf(error)}); make it writable for you, or use another with --data`,
      { cause: error },
    );
  }
}

async function succeeds(work: Promise<void>, exceptFor: string): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (systemCodeOf(error) === exceptFor) return false;
    throw error;
  }
}
