import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { createSocket } from "node:dgram";
import { mkdir, open, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import path from "node:path";
import type { CorePlacement } from "./core-placement.ts";
import { firstAnswer } from "./first-answer.ts";
import type { ServerDriver, ServerSettings } from "./server-driver.ts";
import { cpuSeconds, memoryOf, sessionProcesses } from "./session-figures.ts";
import type { MemoryFigures } from "./session-figures.ts";

export interface StartOptions extends Omit<ServerSettings, "folder" | "port"> {
  /** The server's own folder is made below it. */
  readonly folder: string;
  readonly placement: CorePlacement;
  /** Cores in taskset's words. */
  readonly cores: string;
  readonly startWithinMs: number;
}

/** Leaders of the sessions that run now: they would outlive an interrupted bench. */
const leaders = new Set<ChildProcess>();
process.on("exit", () => {
  for (const leader of leaders) signal(leader, "SIGKILL");
});

/** One server, started as a session of its own and answering. */
export class RunningServer implements AsyncDisposable {
  readonly name: string;
  readonly port: number;
  /** From the start of the command to the first right answer. */
  readonly startMs: number;
  readonly #leader: ChildProcess;
  readonly #folder: string;

  private constructor(
    state: Pick<RunningServer, "name" | "port" | "startMs">,
    leader: ChildProcess,
    folder: string,
  ) {
    this.name = state.name;
    this.port = state.port;
    this.startMs = state.startMs;
    this.#leader = leader;
    this.#folder = folder;
  }

  /** Starts a server in a fresh folder and waits for its first right answer. */
  static async start(driver: ServerDriver, options: StartOptions): Promise<RunningServer> {
    const folder = path.join(options.folder, driver.name.replaceAll(/\W+/g, "-").toLowerCase());
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    const port = await freePort();
    const { command, env } = await driver.prepare({ ...options, folder, port });
    const [program, ...args] = [...options.placement.favoured(options.cores), ...command];
    const log = path.join(folder, "output");
    await using logFile = await open(log, "w");
    const begin = performance.now();
    const leader = spawn(program!, args, {
      detached: true, // a session of its own, by which all its processes are found
      stdio: ["ignore", logFile.fd, logFile.fd],
      ...(env === undefined ? {} : { env }),
    });
    leaders.add(leader);
    const over = new AbortController();
    leader.on("exit", () => over.abort());
    leader.on("error", () => over.abort());
    const timer = setTimeout(() => over.abort(), options.startWithinMs);
    const answered = await firstAnswer(port, over.signal);
    const startMs = performance.now() - begin;
    clearTimeout(timer);
    if (!answered) {
      signal(leader, "SIGKILL");
      leaders.delete(leader);
      const printed = await readFile(log, "utf8");
      throw new Error(
        `${driver.name} gave no right answer in ${Math.round(startMs)} ms; it printed: ${printed.slice(-2000)}`,
      );
    }
    // Only now: while Node loads modules its main thread may poll without sleeping, and in the FIFO class on one core the threads
    // that it waits for would then never run.
    await options.placement.promote(await sessionProcesses(leader.pid!));
    return new RunningServer({ name: driver.name, port, startMs }, leader, folder);
  }

  /** User and system time used so far by all its processes and threads. */
  async cpuSeconds(): Promise<number> {
    return cpuSeconds(await sessionProcesses(this.#leader.pid!));
  }

  async memory(): Promise<MemoryFigures> {
    return memoryOf(await sessionProcesses(this.#leader.pid!));
  }

  /** Halts all its processes, so that they take nothing from the server that is measured. */
  pause(): void {
    signal(this.#leader, "SIGSTOP");
  }

  resume(): void {
    signal(this.#leader, "SIGCONT");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#leader.exitCode === null && this.#leader.signalCode === null) {
      const closed = new Promise((resolve) => this.#leader.on("close", resolve));
      this.resume();
      signal(this.#leader, "SIGTERM");
      const timer = setTimeout(() => signal(this.#leader, "SIGKILL"), 5000);
      await closed;
      clearTimeout(timer);
    }
    signal(this.#leader, "SIGKILL"); // children that outlived it
    leaders.delete(this.#leader);
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** To the whole process group; a group that has ended is no error. */
function signal(leader: ChildProcess, name: NodeJS.Signals): void {
  if (leader.pid === undefined) return;
  try {
    process.kill(-leader.pid, name);
  } catch {
    return;
  }
}

/** A port that is free for UDP and for TCP now. */
async function freePort(): Promise<number> {
  for (;;) {
    const tcp = createServer();
    await new Promise<void>((resolve) => tcp.listen(0, "127.0.0.1", resolve));
    const { port } = tcp.address() as AddressInfo;
    const udp = createSocket("udp4");
    const free = await new Promise<boolean>((resolve) => {
      udp.on("error", () => resolve(false));
      udp.bind(port, "127.0.0.1", () => resolve(true));
    });
    await new Promise<void>((resolve) => udp.close(() => resolve()));
    await new Promise<void>((resolve) => tcp.close(() => resolve()));
    if (free) return port;
  }
}
