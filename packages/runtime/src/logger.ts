/** Structured fields of one log line. Never put a secret here. */
export type LogFields = Readonly<Record<string, unknown>>;

/**
 * A structured logger. The message is a constant string, everything else is a field, so that lines can be counted.
 *
 * `error`: a person must act. `warn`: degraded, heals itself. `info`: a state changed. `debug`: the rest.
 */
export interface Logger {
  error(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
  /** A logger that adds `fields` to each of its lines. */
  child(fields: LogFields): Logger;
}

/** A logger that says nothing; for tests and for callers that do not care. */
export const silentLogger: Logger = {
  error() {},
  warn() {},
  info() {},
  debug() {},
  child: () => silentLogger,
};
