import type { Terminal } from "./terminal.ts";

/** One `--name` of a command. */
export interface OptionDefinition {
  readonly name: string;
  /** How the value is called in the help; absent for a switch. */
  readonly value?: string;
  /** May be given several times; the values come in the order of the command line. */
  readonly multiple?: boolean;
  readonly help: string;
}

/** What was given on the command line, not yet understood. */
export interface Invocation {
  readonly text: ReadonlyMap<string, readonly string[]>;
  readonly switches: ReadonlySet<string>;
  readonly positionals: readonly string[];
}

/** A thing that `meridian` can do. */
export interface Command {
  /** The words that name it: `["demo", "failover"]`. */
  readonly words: readonly string[];
  /** Names of the positional arguments, all required. */
  readonly positionals: readonly string[];
  readonly summary: string;
  /** What `--help` says beyond the summary and the options. */
  readonly details: readonly string[];
  readonly options: readonly OptionDefinition[];
  /** Started by `meridian up` only, and left out of the help. */
  readonly internal?: boolean;
  /** Serves until it is stopped: its standard error is a log, which a failure is a line of, too. */
  readonly server?: boolean;
  /** Returns the exit code. @throws MeridianError */
  run(invocation: Invocation, terminal: Terminal): Promise<number>;
}

/** The last value of an option, as the field's tools do. */
export function lastText(invocation: Invocation, name: string): string | undefined {
  return invocation.text.get(name)?.at(-1);
}
