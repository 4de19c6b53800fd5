import type { Command, CommandResult, LocalSystem } from "@meridian/runtime";

/** A machine of files in memory and commands that are functions. */
export interface FakeSystem extends LocalSystem {
  readonly files: Map<string, string>;
  readonly ran: Command[];
  /** Reads of each path so far. */
  readonly reads: Map<string, number>;
}

/** What the machine has at the start. */
export interface FakeSystemOptions {
  readonly files?: Readonly<Record<string, string>>;
  readonly environment?: LocalSystem["environment"];
  /** Runs a command; its text is printed, an error is that of the system. */
  readonly run?: (command: Command, count: number) => Promise<string | Partial<CommandResult>>;
}

export function fakeSystem(options: FakeSystemOptions = {}): FakeSystem {
  const files = new Map(Object.entries(options.files ?? {}));
  const ran: Command[] = [];
  const reads = new Map<string, number>();
  return {
    files,
    ran,
    reads,
    environment: options.environment ?? {},
    homeFolder: "/home/ada",
    pathListSeparator: ":",
    async readFile(path) {
      reads.set(path, (reads.get(path) ?? 0) + 1);
      const content = files.get(path);
      if (content === undefined) throw missing(path);
      return new TextEncoder().encode(content);
    },
    async replaceFile(path, content) {
      if (!files.has(path)) throw missing(path);
      files.set(path, new TextDecoder().decode(content));
    },
    async createFile(path) {
      if (files.has(path)) return false;
      files.set(path, "");
      return true;
    },
    async removeFile(path) {
      files.delete(path);
    },
    async runCommand(command) {
      ran.push(command);
      if (options.run === undefined) throw missing(command.file);
      const result = await options.run(command, ran.length - 1);
      return { exitCode: 0, stderr: "", stdout: "", ...(typeof result === "string" ? { stdout: result } : result) };
    },
  };
}

/** As the system says that there is no such file or command. */
export function missing(path: string): Error {
  return Object.assign(new Error(`ENOENT: no such file or directory, '${path}'`), { code: "ENOENT" });
}
