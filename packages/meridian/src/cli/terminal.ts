/** Where a command's text goes and what it may know of its surroundings: the only window to the person in front of it. */
export interface Terminal {
  /** A line of the result, on standard output. */
  print(line: string): void;
  /** A line about a failure or a degradation, on standard error. */
  complain(line: string): void;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  /** How a person starts this command again: `npx meridian`. */
  readonly self: string;
  /** Whether a person reads the log, rather than a file or a program. */
  readonly interactive: boolean;
  /** Aborts at the first SIGINT or SIGTERM, and when the terminal is closed. */
  readonly stopping: AbortSignal;
  /** Aborts at the second SIGINT or SIGTERM: whoever sends it wants the end now. */
  readonly forced: AbortSignal;
  /** Calls `listener` at each SIGUSR2, and at SIGHUP where it does not mean that the terminal was closed. */
  onNudge(listener: () => void): void;
}

/** npm passes a signal on to its child, which got it from the terminal already: two so close are one. */
const sameSignalMs = 500;

/**
 * The terminal of this process. Installs the signal listeners, so make it once; a child of `meridian up` installs its own,
 * since its starter decides when it stops.
 */
export function processTerminal(child: boolean): Terminal {
  const stopping = new AbortController();
  const forced = new AbortController();
  const nudges: (() => void)[] = [];
  let firstAt = 0;
  const stop = (signal: NodeJS.Signals): void => {
    if (!stopping.signal.aborted) {
      firstAt = performance.now();
      stopping.abort(new Error(signal));
    } else if (performance.now() - firstAt > sameSignalMs) {
      forced.abort(new Error(signal));
    }
  };
  const nudge = (): void => {
    for (const listener of nudges) listener();
  };
  if (!child) {
    process.on("SIGINT", stop);
    process.on("SIGTERM", stop);
    process.on("SIGUSR2", nudge);
    process.on("SIGHUP", (signal) => (process.stdout.isTTY ? stop(signal) : nudge()));
  }
  // A reader that went away (`meridian status | head -1`) is no reason to end with a stack trace.
  process.stdout.on("error", () => {});
  process.stderr.on("error", () => {});
  return {
    print: (line) => process.stdout.write(`${line}\n`),
    complain: (line) => process.stderr.write(`${line}\n`),
    environment: process.env,
    platform: process.platform,
    self: "npx meridian",
    interactive: process.stderr.isTTY,
    stopping: stopping.signal,
    forced: forced.signal,
    onNudge: (listener) => void nudges.push(listener),
  };
}
