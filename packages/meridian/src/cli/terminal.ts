/** Where a command's text goes and what it may know of its surroundings: the only window to the person in front of it. */
export interface Terminal {
  /** A line of the result, on standard output. */
  print(line: string): void;
  /** A line about a failure or a degradation, on standard error. */
  complain(line: string): void;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  /** Aborts at the first SIGINT or SIGTERM. */
  readonly stopping: AbortSignal;
  /** Aborts at the second SIGINT or SIGTERM: whoever sends it wants the end now. */
  readonly forced: AbortSignal;
}

/** The terminal of this process. Installs the signal listeners, so make it once. */
export function processTerminal(): Terminal {
  const stopping = new AbortController();
  const forced = new AbortController();
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping.signal.aborted) forced.abort(new Error(`second ${signal}`));
    else stopping.abort(new Error(signal));
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  process.on("SIGHUP", onSignal);
  // A reader that went away (`meridian status | head -1`) is no reason to end with a stack trace.
  process.stdout.on("error", () => {});
  process.stderr.on("error", () => {});
  return {
    print: (line) => process.stdout.write(`${line}\n`),
    complain: (line) => process.stderr.write(`${line}\n`),
    environment: process.env,
    platform: process.platform,
    stopping: stopping.signal,
    forced: forced.signal,
  };
}
