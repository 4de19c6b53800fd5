import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/**
 * Who has a folder open, as written into it. A process that was killed leaves its entry behind, so the entry says
 * enough to tell whether that process still runs.
 */
export interface FolderOwner {
  readonly pid: number;
  readonly host: string;
  /** Wall time of the opening, ISO 8601. */
  readonly since: string;
  /** When the process started, in the kernel's ticks: tells a reused pid. `undefined` off Linux. */
  readonly startTicks?: string;
  /** Which run of the kernel this was; a pid means nothing in another. `undefined` off Linux. */
  readonly bootId?: string;
  /** Which namespace the pid counts in; containers have their own. `undefined` off Linux. */
  readonly pidNamespace?: string;
}

export function thisProcess(nowMs: number): FolderOwner {
  const startTicks = statOf(process.pid)?.startTicks;
  const bootId = read(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
  const pidNamespace = read(() => readlinkSync("/proc/self/ns/pid"));
  return {
    pid: process.pid,
    host: hostname(),
    since: new Date(nowMs).toISOString(),
    ...(startTicks === undefined ? {} : { startTicks }),
    ...(bootId === undefined ? {} : { bootId }),
    ...(pidNamespace === undefined ? {} : { pidNamespace }),
  };
}

/**
 * Whether the owner still runs, as seen from `self`. `lockHolders` are the pids that hold an operating system lock on
 * the folder's lock file: for an owner in another pid namespace there is nothing better.
 */
export function ownerRuns(owner: FolderOwner, self: FolderOwner, lockHolders: ReadonlySet<number>): boolean {
  if (owner.bootId !== undefined && self.bootId !== undefined && owner.bootId !== self.bootId) return false;
  if (owner.pidNamespace !== self.pidNamespace) return lockHolders.has(owner.pid);
  if (!pidExists(owner.pid)) return false;
  const stat = statOf(owner.pid);
  if (stat === undefined) return true;
  return stat.state !== "Z" && (owner.startTicks === undefined || owner.startTicks === stat.startTicks);
}

function pidExists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: it exists and belongs to somebody else.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/**
 * Fields 3 and 22 of /proc/PID/stat; the second field is the command in parentheses and may hold anything. A process in
 * state Z has ended and waits for its parent to ask.
 */
function statOf(pid: number): { state: string; startTicks: string } | undefined {
  const stat = read(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields && { state: fields[0] ?? "", startTicks: fields[19] ?? "" };
}

function read(get: () => string): string | undefined {
  try {
    return get();
  } catch {
    return undefined;
  }
}
