import { spawn } from "node:child_process";

/** What a finished command left behind. */
export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end, killing it after `timeoutMs`; never rejects for what the command did. */
export async function run(
  command: string,
  args: readonly string[],
  options: {
    readonly stdin?: string;
    readonly timeoutMs?: number;
    readonly env?: NodeJS.ProcessEnv;
    readonly cwd?: string;
  } = {},
): Promise<CommandResult> {
  const { env = process.env, cwd } = options;
  const child = spawn(command, args, { env, cwd, stdio: ["pipe", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdin.on("error", () => undefined); // a command may end before it has read its input
  child.stdin.end(options.stdin ?? "");
  const timer = setTimeout(() => child.kill("SIGKILL"), options.timeoutMs ?? 60_000);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  clearTimeout(timer);
  return { code, stdout, stderr };
}

/** Runs a command that must succeed and returns what it printed. */
export async function output(
  command: string,
  args: readonly string[],
  options: Parameters<typeof run>[2] = {},
): Promise<string> {
  const result = await run(command, args, options);
  if (result.code !== 0) {
    throw new Error(
      `${command} ${args.join(" ")} ended with ${result.code}: ${result.stderr}${result.stdout}`,
    );
  }
  return result.stdout;
}

/** Whether a command is installed, by asking the shell. */
export async function installed(command: string): Promise<boolean> {
  return (await run("sh", ["-c", `command -v ${command}`])).code === 0;
}
