/** A command to run to its end. */
export interface Command {
  /** A path, or a name that the system looks up. */
  readonly file: string;
  readonly args: readonly string[];
  /** The whole environment of the command. */
  readonly environment: Readonly<Record<string, string>>;
  /** It is killed after so long. */
  readonly timeoutMs: number;
  /** Kills it. */
  readonly signal?: AbortSignal;
}

/** What a command did. */
export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * The machine as its user set it up: environment, files by their path, commands. What runs under the simulator needs
 * none of it; a kubeconfig with its files and plugins does.
 */
export interface LocalSystem {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Absolute. */
  readonly homeFolder: string;
  /** What separates the paths in a variable like `PATH`. */
  readonly pathListSeparator: ":" | ";";
  /** Rejects with an error whose `code` is `ENOENT` where there is no such file. */
  readFile(path: string): Promise<Uint8Array>;
  /** Replaces a file that exists, keeping its mode, so that a reader sees the old or the new content. */
  replaceFile(path: string, content: Uint8Array): Promise<void>;
  /** Makes a file, and returns false where there is one already: a lock between processes. */
  createFile(path: string): Promise<boolean>;
  /** Removes a file; an absent one is fine. */
  removeFile(path: string): Promise<void>;
  /**
   * Resolves when the command has ended and its output is read; processes that it leaves behind with its output open are
   * not waited for. Rejects (`code` `ENOENT`) where there is no such command, and when it takes too long or writes over
   * 1 MiB.
   */
  runCommand(command: Command): Promise<CommandResult>;
}
