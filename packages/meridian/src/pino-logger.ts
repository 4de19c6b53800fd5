import type { LogFields, Logger } from "@meridian/runtime";
import { destination, pino, type DestinationStream, type Logger as Pino } from "pino";

/** How log lines look: `json` for machines, `pretty` for a person at a terminal. */
export type LogFormat = "json" | "pretty";

export interface LogOptions {
  readonly format: LogFormat;
  readonly level: "debug" | "info" | "warn" | "error";
  /** Where lines go; by default to the file descriptor. */
  readonly write?: (line: string) => void;
  /** 1 is standard output; 2, the default, standard error. */
  readonly fd?: 1 | 2;
}

/** Fields of these names are never written, at the top or one level down, whoever logs them. */
const secretFields = ["token", "authorization", "password", "privateKeyPem", "privateKey", "kubeconfig"];

/** How much of what cannot be written is kept for the next try, for example while the disk is full. */
const unwrittenBytesMax = 64 * 1024;

/** The logger of a process: pino behind the runtime's interface. Lines are written at once, so a crash loses none. */
export function pinoLogger(options: LogOptions): Logger {
  const write = options.write;
  const sink: DestinationStream = write === undefined ? standardOutput(options.fd ?? 2) : { write };
  const stream =
    options.format === "json"
      ? sink
      : {
          write: (line: string): void => {
            sink.write(prettyLine(line));
          },
        };
  const root = pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: errorFields },
      redact: { paths: secretFields.flatMap((name) => [name, `*.${name}`]), censor: "[hidden]" },
    },
    stream,
  );
  return wrap(root);
}

/** As pino has it; but a cause that the message tells already is not told again. */
function errorFields(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  let message = error.message;
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause)
    if (!message.includes(cause.message)) message += `: ${cause.message}`;
  return { ...pino.stdSerializers.err(error), message };
}

/** A log that cannot be written is no reason to stop serving. */
function standardOutput(fd: 1 | 2): DestinationStream {
  const sink = destination({ fd, sync: true, maxLength: unwrittenBytesMax });
  sink.on("error", () => {});
  return sink;
}

function wrap(inner: Pino): Logger {
  return {
    error: (message, fields) => inner.error(fields ?? {}, message),
    warn: (message, fields) => inner.warn(fields ?? {}, message),
    info: (message, fields) => inner.info(fields ?? {}, message),
    debug: (message, fields) => inner.debug(fields ?? {}, message),
    child: (fields: LogFields) => wrap(inner.child(fields)),
  };
}

/**
 * `10:08:55.123 INFO  message key=value`, from a line of JSON. Of an error with a code or reason the message says all; of
 * any other the stack follows in lines of its own.
 */
export function prettyLine(json: string): string {
  const { time, level, msg, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const stacks: string[] = [];
  const shown = Object.entries(fields).map(([name, field]) => {
    const value = isError(field) ? field.message : field;
    if (isError(field) && field.code === undefined && field.reason === undefined) stacks.push(field.stack);
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return `${name}=${/[\s"]/.test(text) && typeof value === "string" ? JSON.stringify(value) : text}`;
  });
  const head = [String(time).slice(11, 23), String(level).toUpperCase().padEnd(5), String(msg)];
  return `${[[...head, ...shown].join(" "), ...stacks].join("\n")}\n`;
}

interface ErrorField {
  readonly message: string;
  readonly stack: string;
  readonly code?: unknown;
  readonly reason?: unknown;
}

function isError(field: unknown): field is ErrorField {
  const { message, stack } = (field ?? {}) as Partial<ErrorField>;
  return typeof message === "string" && typeof stack === "string";
}
