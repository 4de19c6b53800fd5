import { parseCommandLine } from "./cli/parse-command-line.ts";
import { processTerminal, type Terminal } from "./cli/terminal.ts";
import { commands } from "./commands/index.ts";
import { asMeridianError } from "./fleet/listen-failure.ts";
import { logFailure } from "./log-failure.ts";
import { exitCodeOf, MeridianError } from "./meridian-error.ts";
import { programVersion } from "./cluster/program-version.ts";
import { pinoLogger } from "./pino-logger.ts";

/** A command that has ended may leave a socket behind that closes late; the process does not wait longer for it. */
const lingerMs = 1_000;

/** Runs one command line to its end and sets the exit code of the process. */
export async function runCommand(argv: readonly string[]): Promise<void> {
  // Whatever a command writes, tokens and private keys among it, is for its owner only.
  process.umask(0o077);
  process.exitCode = await run(argv);
  if (process.connected) process.disconnect();
  setTimeout(() => process.exit(), lingerMs).unref();
}

async function run(argv: readonly string[]): Promise<number> {
  const line = parseCommandLine(argv, commands);
  switch (line.kind) {
    case "help":
      process.stdout.write(`${line.text}\n`);
      return 0;
    case "version":
      process.stdout.write(`${programVersion.version}\n`);
      return 0;
    case "mistake":
      process.stderr.write(`${line.message}\n`);
      return 2;
    case "run": {
      const { command, invocation } = line;
      const terminal = processTerminal(command.internal === true);
      try {
        return await command.run(invocation, terminal);
      } catch (error) {
        tellFailure(asMeridianError(error), { terminal, server: command.server === true });
        return exitCodeOf(error);
      }
    }
  }
}

/** As a person reads it, or as lines of a server's log. A mistake on the command line is for whoever typed it. */
function tellFailure(
  error: unknown,
  { terminal, server }: { readonly terminal: Terminal; readonly server: boolean },
): void {
  const isUsage = error instanceof MeridianError && error.code === "Usage";
  if (!server || terminal.interactive || isUsage) return terminal.complain(describeFailure(error));
  logFailure(pinoLogger({ format: "json", level: "error" }), error);
}

/** One line where we know what happened; the stack where we do not, since then it is a bug of ours. */
function describeFailure(error: unknown): string {
  if (error instanceof MeridianError) return `meridian: ${error.message}`;
  if (error instanceof Error && "code" in error) return `meridian: ${error.message}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
