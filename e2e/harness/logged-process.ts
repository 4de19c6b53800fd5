import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { boundCommand } from "./bound-command.ts";

/** A process that a test owns, whose words go to a file. On Linux it ends with the test's process, however that ends. */
export class LoggedProcess implements AsyncDisposable {
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #logFile: string;
  readonly #closed: Promise<void>;

  private constructor(child: ChildProcess, logFile: string) {
    this.#child = child;
    this.#logFile = logFile;
    this.pid = child.pid ?? 0;
    this.#closed = new Promise((resolve) => {
      child.once("close", () => resolve());
      child.once("error", () => resolve());
    });
  }

  /** Starts a command; its output is added to `logFile`. */
  static start(command: readonly string[], logFile: string): LoggedProcess {
    const log = openSync(logFile, "a");
    const [program = "", ...args] = boundCommand(command);
    const child = spawn(program, args, { stdio: ["ignore", log, log] });
    closeSync(log);
    return new LoggedProcess(child, logFile);
  }

  get running(): boolean {
    return this.pid !== 0 && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The last of what it said, for messages. */
  async lastWords(): Promise<string> {
    return (await readFile(this.#logFile, "utf8").catch(() => "")).slice(-4_000);
  }

  /** Sends a signal and resolves when the process is gone; what does not end within `withinMs` is killed. */
  async end(signal: NodeJS.Signals, withinMs = 10_000): Promise<void> {
    this.#child.kill(signal);
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), withinMs);
    await this.#closed;
    clearTimeout(timer);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.running) await this.end("SIGKILL");
  }
}
