import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { boundCommand } from "../../e2e/harness/bound-command.ts";
import type { ClientReports } from "./client-report.ts";

type At = keyof ClientReports;
type Line = { readonly at: At } & Readonly<Record<string, unknown>>;

const withinMsDefault = 120_000;
const stderrMax = 4_000;

/** A measured client in a process of its own, which speaks the protocol of `ClientReports`. */
export class ClientProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #closed: Promise<void>;
  readonly #lines: Line[] = [];
  #stderr = "";
  #running = true;
  #look: () => void = () => {};

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#closed = new Promise((resolve) => {
      const end = (): void => {
        this.#running = false;
        this.#look();
        resolve();
      };
      child.once("close", end);
      child.once("error", end);
    });
    child.stdin?.on("error", () => {}); // it may have ended
    child.stderr?.on("data", (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-stderrMax);
    });
    if (child.stdout === null) return;
    createInterface(child.stdout).on("line", (line) => {
      this.#lines.push(JSON.parse(line) as Line);
      this.#look();
    });
  }

  /** Starts a command, which ends with this process. */
  static start(command: readonly string[], env: Readonly<Record<string, string>> = {}): ClientProcess {
    const [program = "", ...args] = boundCommand(command);
    return new ClientProcess(
      spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], env: { ...process.env, ...env } }),
    );
  }

  /** Tells it what to do, and resolves with what it tells then. */
  async ask<Name extends At>(command: string, answer: Name): Promise<ClientReports[Name]> {
    this.#child.stdin?.write(`${command}\n`);
    return this.next(answer);
  }

  /** The next line that it tells, which must be this one. */
  async next<Name extends At>(at: Name, withinMs: number = withinMsDefault): Promise<ClientReports[Name]> {
    const line = await this.#next(at, withinMs);
    if (line.at !== at) throw new Error(`a client says ${JSON.stringify(line)} where ${at} is due`);
    return line as unknown as ClientReports[Name];
  }

  /** Takes all processor time from it. */
  pause(): void {
    this.#child.kill("SIGSTOP");
  }

  resume(): void {
    this.#child.kill("SIGCONT");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#closed;
  }

  #next(at: At, withinMs: number): Promise<Line> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#look = () => {};
      };
      const timer = setTimeout(() => {
        end();
        reject(new Error(`${at} did not come within ${withinMs} ms; it said: ${this.#stderr}`));
      }, withinMs);
      this.#look = () => {
        const line = this.#lines.shift();
        if (line === undefined && this.#running) return;
        end();
        if (line === undefined) reject(new Error(`it ended before ${at}; it said: ${this.#stderr}`));
        else resolve(line);
      };
      this.#look();
    });
  }
}
