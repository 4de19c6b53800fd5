import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../main.js", import.meta.url));

/** A command that runs as a process of its own. */
export interface StartedCommand {
  readonly match: RegExpExecArray;
  readonly stop: () => Promise<number | null>;
  readonly kill: () => Promise<number | null>;
  readonly nudge: () => void;
  readonly printed: () => string;
  /** What of it went to standard output, and to standard error. */
  readonly streams: { readonly output: string; readonly log: string };
}

/** Starts a command and resolves when it has printed what `says` matches, with the match and how to stop it. */
export async function startCommand(
  args: readonly string[],
  says: RegExp,
  environment: Readonly<Record<string, string>> = {},
): Promise<StartedCommand> {
  const child = spawn(process.execPath, [main, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...environment },
  });
  let printed = "";
  const streams = { output: "", log: "" };
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const match = await new Promise<RegExpExecArray>((resolve, reject) => {
    const look = (chunk: Buffer): void => {
      printed += chunk.toString();
      const found = says.exec(printed);
      if (found !== null) resolve(found);
    };
    child.stdout.on("data", (chunk: Buffer) => (streams.output += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (streams.log += chunk.toString()));
    child.stdout.on("data", look);
    child.stderr.on("data", look);
    child.on("close", () => reject(new Error(`ended early: ${printed}`)));
  });
  const end = (signal: "SIGTERM" | "SIGKILL"): Promise<number | null> => {
    child.kill(signal);
    return ended;
  };
  const stop = (): Promise<number | null> => end("SIGTERM");
  return {
    match,
    stop,
    kill: () => end("SIGKILL"),
    nudge: () => child.kill("SIGHUP"),
    printed: () => printed,
    streams,
  };
}

