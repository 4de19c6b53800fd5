import { spawn, type ChildProcess } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Runtime } from "@meridian/runtime";

/** The command as users run it. */
export const meridianCommand: readonly string[] = [
  process.execPath,
  fileURLToPath(new URL("../../../packages/meridian/bin/meridian.js", import.meta.url)),
];

const printedMax = 64 * 1024;

/** A server in a process of its own, owned by a test. */
export class ChildServer implements AsyncDisposable {
  /** What its output matched when it was ready. */
  readonly match: RegExpExecArray;
  readonly #child: ChildProcess;
  readonly #closed: Promise<void>;
  /** What it printed since it was ready, or since `until` matched last. */
  #printed = "";
  #look: () => void = () => {};

  private constructor(child: ChildProcess, parts: { match: RegExpExecArray; closed: Promise<void> }) {
    this.#child = child;
    this.match = parts.match;
    this.#closed = parts.closed;
  }

  /** Starts a command and resolves when it has printed what `says` matches. */
  static async start(command: readonly string[], says: RegExp): Promise<ChildServer> {
    const [program = "", ...args] = command;
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
    let printed = "";
    const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
    let server: ChildServer | undefined;
    return new Promise<ChildServer>((resolve, reject) => {
      const look = (chunk: Buffer): void => {
        if (server !== undefined) return server.#take(chunk.toString());
        printed += chunk.toString();
        const found = says.exec(printed);
        if (found === null) return;
        server = new ChildServer(child, { match: found, closed });
        server.#take(printed.slice(found.index + found[0].length));
        resolve(server);
      };
      child.stdout.on("data", look);
      child.stderr.on("data", look);
      child.once("error", reject);
      void closed.then(() => reject(new Error(`${command.join(" ")} ended: ${printed}`)));
    });
  }

  /** Resolves when it prints what `says` matches, counted from the last match. Ask one thing at a time. */
  async until(says: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      this.#look = () => {
        const found = says.exec(this.#printed);
        if (found === null) return;
        this.#printed = this.#printed.slice(found.index + found[0].length);
        this.#look = () => {};
        resolve(found);
      };
      this.#look();
      void this.#closed.then(() => reject(new Error(`it ended without ${says}: ${this.#printed}`)));
    });
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  /** Its exit code; `undefined` while it runs, or where a signal ended it. */
  get exitCode(): number | undefined {
    return this.#child.exitCode ?? undefined;
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Resident memory, where the system tells (Linux). */
  async residentBytes(): Promise<number> {
    const status = await readFile(`/proc/${this.#child.pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
  }

  #take(text: string): void {
    this.#printed = (this.#printed + text).slice(-printedMax);
    this.#look();
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Ends it at once, as by kill -9, and resolves when it is gone. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGTERM");
    await this.#closed;
  }
}

/** A port of 127.0.0.1 that is free now. */
export async function freePort(runtime: Runtime): Promise<number> {
  await using listener = await runtime.network.listenTcp({
    address: "127.0.0.1",
    port: 0,
    onConnection: (connection) => connection.destroy(),
  });
  return listener.local.port;
}
