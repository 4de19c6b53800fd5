import { readFile, readdir } from "node:fs/promises";

// A server is the session that the bench started it in: all its processes with all their threads.

/** The processes of a session, its leader first. */
export async function sessionProcesses(session: number): Promise<number[]> {
  const found: number[] = [];
  for (const entry of await readdir("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    const fields = await statFields(Number(entry));
    if (fields !== undefined && Number(fields[3]) === session) found.push(Number(entry));
  }
  return found.toSorted((a, b) => a - b);
}

/** User and system time that these processes have used, in seconds; one that ended meanwhile counts as 0. */
export async function cpuSeconds(pids: readonly number[]): Promise<number> {
  let ticks = 0;
  for (const pid of pids) {
    const fields = await statFields(pid);
    if (fields !== undefined) ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks / ticksPerSecond;
}

/** User and system time of the commands that this process has waited for, in seconds. */
export async function waitedCpuSeconds(): Promise<number> {
  const fields = (await statFields(process.pid))!;
  return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond;
}

export interface MemoryFigures {
  /** Resident, pages that processes share counted in each. */
  readonly rssMebibytes: number;
  /** Resident, shared pages counted once. */
  readonly pssMebibytes: number;
}

export async function memoryOf(pids: readonly number[]): Promise<MemoryFigures> {
  let rss = 0;
  let pss = 0;
  for (const pid of pids) {
    const text = await readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "");
    rss += Number(/^Rss:\s+(\d+)/m.exec(text)?.[1] ?? 0);
    pss += Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? 0);
  }
  return { rssMebibytes: rss / 1024, pssMebibytes: pss / 1024 };
}

/** Datagrams that the kernel dropped since the machine started because a socket's buffer was full. */
export async function udpBufferErrors(): Promise<number> {
  const [names, values] = (await readFile("/proc/net/snmp", "utf8"))
    .split("\n")
    .filter((line) => line.startsWith("Udp:"))
    .map((line) => line.split(" "));
  const at = (name: string): number => Number(values![names!.indexOf(name)]);
  return at("RcvbufErrors") + at("SndbufErrors");
}

/** USER_HZ: 100 on every Linux that Node runs on. */
const ticksPerSecond = 100;

/** `/proc/PID/stat` from the state on: 1 parent, 3 session, 11 to 14 user, system, and the waited-for children's. */
async function statFields(pid: number): Promise<string[] | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  return text?.slice(text.lastIndexOf(")") + 2).split(" ");
}
