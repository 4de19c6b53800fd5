import { fork, type ChildProcess } from "node:child_process";
import { closeSync, openSync, renameSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Clock } from "@meridian/runtime";
import { MeridianError, messageOf } from "../meridian-error.ts";
import type { ChildReport, ChildRole } from "./child-protocol.ts";

/** What to run, where its log goes, and who hears of its deaths. */
export interface SupervisedChildOptions {
  /** How the process is called towards people: `eu`, `parent`. */
  readonly label: string;
  readonly role: ChildRole;
  /** Its standard error, so its log; moved aside at a start when it is over 10 MiB. */
  readonly logPath: string;
  /** Whether it is started again when it dies. */
  readonly restart: boolean;
  readonly onChange: (change: ChildChange) => void;
}

/** What happens to a child after its first start. */
export type ChildChange =
  | { readonly kind: "died"; readonly how: string; readonly restartInMs: number | undefined }
  | { readonly kind: "started"; readonly pid: number }
  | { readonly kind: "start failed"; readonly message: string; readonly restartInMs: number | undefined };

type Place =
  | { readonly at: "new" | "down" | "stopped" }
  | { readonly at: "starting" | "up"; readonly child: ChildProcess; readonly since: number }
  | { readonly at: "waiting"; readonly cancel: () => void };

const readyWithinMs = 60_000;
const stopWithinMs = 10_000;
const wakeReachMs = 1_000;
const steadyAfterMs = 60_000;
const logBytesMax = 10 * 1024 * 1024;

/** How long a child that died for the nth time in a row waits for its restart: 0.5 s, doubled each time, at most 30 s. */
export function restartDelayMs(deathsInARow: number): number {
  return Math.min(500 * 2 ** Math.min(deathsInARow - 1, 10), 30_000);
}

/** One child process, kept running until it is stopped. It ends by itself when this process dies. */
export class SupervisedChild {
  readonly #clock: Clock;
  readonly #options: SupervisedChildOptions;
  #place: Place = { at: "new" };
  #deathsInARow = 0;
  #wokenAt = -Infinity;

  constructor(clock: Clock, options: SupervisedChildOptions) {
    this.#clock = clock;
    this.#options = options;
  }

  get label(): string {
    return this.#options.label;
  }

  /** The process that is up, if one is. */
  get pid(): number | undefined {
    return this.#place.at === "up" ? this.#place.child.pid : undefined;
  }

  /** Starts it for the first time. @throws MeridianError with what the child reports, or `StartFailed` */
  async start(): Promise<void> {
    await this.#launch();
  }

  /** Starts it again at once if it is down, or if its end arrives within a second; says whether it was down. */
  wake(): boolean {
    this.#wokenAt = this.#clock.monotonicMs();
    if (this.#place.at !== "down" && this.#place.at !== "waiting") return false;
    if (this.#place.at === "waiting") this.#place.cancel();
    void this.#relaunch();
    return true;
  }

  /** Ends it with SIGTERM, and with SIGKILL when that takes over 10 s or `forced` aborts. */
  async stop(forced: AbortSignal): Promise<void> {
    const place = this.#place;
    this.#place = { at: "stopped" };
    if (place.at === "waiting") place.cancel();
    if (place.at === "starting" || place.at === "up")
      await endProcess(place.child, { clock: this.#clock, forced });
  }

  async #launch(): Promise<void> {
    const { label, role, logPath } = this.#options;
    const child = forkChild(label, role, logPath);
    this.#place = { at: "starting", child, since: this.#clock.monotonicMs() };
    child.on("exit", (code, signal) => this.#onExit(child, signal ?? `exit code ${code}`));
    const report = await firstReport(child, this.#clock);
    if (report.kind === "failed") {
      child.kill("SIGKILL");
      throw new MeridianError(report.code, `${label}: ${report.message}`);
    }
    if (this.#place.at === "starting" && this.#place.child === child) {
      this.#place = { at: "up", child, since: this.#clock.monotonicMs() };
    }
  }

  #onExit(child: ChildProcess, how: string): void {
    const place = this.#place;
    // While starting, the start itself reports the failure.
    if (place.at !== "up" || place.child !== child) return;
    const lived = this.#clock.monotonicMs() - place.since;
    this.#deathsInARow = lived >= steadyAfterMs ? 1 : this.#deathsInARow + 1;
    this.#options.onChange({ kind: "died", how, restartInMs: this.#scheduleRestart() });
  }

  #scheduleRestart(): number | undefined {
    // Who kills and at once asks for a start may be heard before the system reports the death.
    const woken = this.#clock.monotonicMs() - this.#wokenAt < wakeReachMs;
    if (!this.#options.restart && !woken) {
      this.#place = { at: "down" };
      return undefined;
    }
    const delay = woken ? 0 : restartDelayMs(this.#deathsInARow);
    this.#place = { at: "waiting", cancel: this.#clock.after(delay, () => void this.#relaunch()) };
    return delay;
  }

  async #relaunch(): Promise<void> {
    try {
      await this.#launch();
    } catch (error) {
      if (this.#place.at === "stopped") return;
      this.#deathsInARow += 1;
      const message = messageOf(error);
      this.#options.onChange({ kind: "start failed", message, restartInMs: this.#scheduleRestart() });
      return;
    }
    const pid = this.pid;
    if (pid !== undefined) this.#options.onChange({ kind: "started", pid });
  }
}

function forkChild(label: string, role: ChildRole, logPath: string): ChildProcess {
  const main = fileURLToPath(new URL("../main.js", import.meta.url));
  moveLargeLogAside(logPath);
  const log = openSync(logPath, "a", 0o600);
  try {
    const words = role.kind === "cluster" ? ["cluster", label] : ["parent"];
    const child = fork(main, words, { stdio: ["ignore", log, log, "ipc"], serialization: "json" });
    child.on("error", () => {}); // a failed spawn or send is seen as an exit, or as the channel's end
    child.send(role, () => {});
    return child;
  } finally {
    closeSync(log);
  }
}

function moveLargeLogAside(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > logBytesMax) renameSync(path, `${path}.1`);
}

function firstReport(child: ChildProcess, clock: Clock): Promise<ChildReport> {
  return new Promise((resolve) => {
    const fail = (message: string): void => resolve({ kind: "failed", code: "StartFailed", message });
    const cancel = clock.after(readyWithinMs, () =>
      fail(`not ready within ${readyWithinMs / 1000} s; see its log`),
    );
    child.once("message", (message) => resolve(message as ChildReport));
    child.once("exit", (code, signal) => {
      cancel();
      // So ends a process whose mapped file is shorter than it should be, or holds something else.
      const isTorn = signal === "SIGBUS" || signal === "SIGSEGV" || signal === "SIGABRT";
      const remedy = isTorn
        ? "where its log tells nothing, its data folder may be damaged: restore it, or move it away to start empty"
        : "see its log";
      fail(`ended while starting (${signal ?? `exit code ${code}`}); ${remedy}`);
    });
    child.once("message", cancel);
    child.once("error", (error) => fail(`cannot be started: ${error.message}`));
  });
}

async function endProcess(
  child: ChildProcess,
  options: { readonly clock: Clock; readonly forced: AbortSignal },
): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const kill = (): void => void child.kill("SIGKILL");
  const cancel = options.clock.after(stopWithinMs, kill);
  options.forced.addEventListener("abort", kill);
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.kill(options.forced.aborted ? "SIGKILL" : "SIGTERM");
  await exited;
  cancel();
  options.forced.removeEventListener("abort", kill);
}
