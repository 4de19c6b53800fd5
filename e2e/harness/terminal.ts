import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";

/** A terminal of a person who follows instructions: a shell, and what it has said. */
export class Terminal implements AsyncDisposable {
  readonly #shell: ChildProcessWithoutNullStreams;
  readonly #closed: Promise<number | null>;
  #said = "";
  #readUpTo = 0;

  /** Opens a terminal in which commands follow each other, or with `command` one in which that goes on running. */
  constructor(options: {
    readonly folder: string;
    readonly environment: NodeJS.ProcessEnv;
    readonly command?: string;
  }) {
    const { folder, environment, command } = options;
    const args = command === undefined ? ["-s"] : ["-c", command];
    // A process group of its own, as a terminal gives to what runs in it: Ctrl-C is for all of that.
    this.#shell = spawn("bash", args, { cwd: folder, env: environment, detached: true });
    this.#closed = new Promise((resolve) => this.#shell.once("close", resolve));
    for (const stream of [this.#shell.stdout, this.#shell.stderr])
      stream.on("data", (chunk: Buffer) => (this.#said += chunk.toString()));
    this.#shell.stdin.on("error", () => undefined); // the shell may have ended
  }

  /** Everything that was said, for messages. */
  get said(): string {
    return this.#said;
  }

  /** Runs a command to its end and returns what it said. @throws Error where it fails, or does not end in time */
  async run(command: string, withinMs = 300_000): Promise<string> {
    const mark = `ended-${this.#said.length}`;
    this.#shell.stdin.write(`${command} 2>&1\necho "${mark} $?"\n`);
    const end = await this.#until(new RegExp(`^${mark} (\\d+)\\n`, "m"), withinMs);
    const output = this.#said.slice(this.#readUpTo, end.index);
    this.#readUpTo = end.index + end[0].length;
    if (end[1] !== "0") throw new Error(`"${command}" ended with ${end[1]}:\n${output}`);
    return output;
  }

  /** Waits until it says something that was not read yet. @throws Error where it does not in time */
  async read(pattern: RegExp, withinMs = 60_000): Promise<void> {
    const found = await this.#until(pattern, withinMs);
    this.#readUpTo = found.index + found[0].length;
  }

  /** Presses Ctrl-C, and waits for the end. @returns its exit code */
  async interrupt(withinMs = 20_000): Promise<number | null> {
    this.#signal("SIGINT");
    const timer = setTimeout(() => this.#signal("SIGKILL"), withinMs);
    const code = await this.#closed;
    clearTimeout(timer);
    return code;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#signal("SIGKILL");
    await this.#closed;
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#shell.pid === undefined) return;
    try {
      process.kill(-this.#shell.pid, signal);
    } catch {
      // all of it has ended
    }
  }

  async #until(pattern: RegExp, withinMs: number): Promise<RegExpExecArray> {
    const endsAt = Date.now() + withinMs;
    for (;;) {
      const found = pattern.exec(this.#said.slice(this.#readUpTo));
      if (found !== null) {
        found.index += this.#readUpTo;
        return found;
      }
      if (Date.now() > endsAt || this.#shell.exitCode !== null || this.#shell.signalCode !== null)
        throw new Error(`nothing like ${pattern} was said:\n${this.#said.slice(this.#readUpTo)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
