import type { ExecFileException } from "node:child_process";
import { execFile } from "node:child_process";
import { open, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter } from "node:path";

import type { Command, CommandResult, LocalSystem } from "../local-system.ts";

const outputBytesMax = 1024 * 1024;
/** How long the output of a command that has ended is waited for while somebody whom it has started holds it open. */
const heldOutputMs = 500;

/** The machine that this process runs on, with the environment that it was started in. */
export function nodeLocalSystem(environment: LocalSystem["environment"] = { ...process.env }): LocalSystem {
  return {
    environment,
    homeFolder: environment["HOME"] ?? homedir(),
    pathListSeparator: delimiter,
    readFile: async (path) => new Uint8Array(await readFile(path)),
    replaceFile,
    createFile,
    removeFile: (path) => rm(path, { force: true }),
    runCommand,
  };
}

async function replaceFile(path: string, content: Uint8Array): Promise<void> {
  // Beside the file itself, not beside a link to it: the link stays one.
  const target = await realpath(path);
  const { mode } = await stat(target);
  const next = `${target}.${process.pid}.new`;
  try {
    await writeFile(next, content, { mode: mode & 0o777, flag: "wx" });
    await rename(next, target);
  } catch (error) {
    await rm(next, { force: true });
    throw error;
  }
}

async function createFile(path: string): Promise<boolean> {
  try {
    await (await open(path, "wx")).close();
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

function runCommand(command: Command): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      command.file,
      command.args,
      {
        env: command.environment,
        timeout: command.timeoutMs,
        killSignal: "SIGKILL",
        maxBuffer: outputBytesMax,
        ...(command.signal === undefined ? {} : { signal: command.signal }),
      },
      (error, stdout, stderr) => {
        if (error === null) resolve({ exitCode: 0, stdout, stderr });
        else if (typeof error.code === "number") resolve({ exitCode: error.code, stdout, stderr });
        else if (command.signal?.aborted === true) reject(command.signal.reason);
        else reject(failureOf(command, error));
      },
    );
    child.stdin?.end();
    child.once("exit", () => {
      const stop = (): void => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      };
      // After a turn of the event loop in which what the command has written is read, however late the timer is.
      const timer = setTimeout(() => setImmediate(stop), heldOutputMs);
      child.once("close", () => clearTimeout(timer));
    });
  });
}

/** Node's own errors hold the arguments and what the command printed, either of which may be a secret. */
function failureOf({ file, timeoutMs }: Command, error: ExecFileException): Error {
  const { code, killed, signal } = error;
  if (typeof code === "string") {
    // Of a command that did not start, or printed too much.
    const what = code.startsWith("ERR_") ? error.message : `cannot be started: ${code}`;
    return Object.assign(new Error(`${file} ${what}`), { code });
  }
  return new Error(
    killed === true ? `${file} did not end within ${timeoutMs} ms` : `${file} was ended by ${signal}`,
  );
}
