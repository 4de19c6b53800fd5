import type { LogFields, Logger } from "../logger.ts";

/** What to print, and where. */
export interface ConsoleLoggerOptions {
  /** The least that is printed. Default `info`. */
  readonly level?: "error" | "warn" | "info" | "debug";
  /** Default: standard error. */
  readonly write?: (line: string) => void;
}

const levels = ["error", "warn", "info", "debug"] as const;

/**
 * A logger for a person at a terminal: `2026-01-01T00:00:00.000Z WARN  message key=value`. Errors are printed with their
 * causes and without stacks. Services that keep their logs wrap a logger of their own, as pino.
 */
export function consoleLogger(options: ConsoleLoggerOptions = {}): Logger {
  const { level = "info", write = (line) => process.stderr.write(line) } = options;
  const isPrinted = (each: (typeof levels)[number]): boolean => levels.indexOf(each) <= levels.indexOf(level);
  const withFields = (fixed: LogFields): Logger => {
    const print =
      (at: (typeof levels)[number]) =>
      (message: string, fields: LogFields = {}): void => {
        if (!isPrinted(at)) return;
        const shown = Object.entries({ ...fixed, ...fields }).flatMap(([name, value]) =>
          value === undefined ? [] : [`${name}=${fieldText(value)}`],
        );
        write(`${[new Date().toISOString(), at.toUpperCase().padEnd(5), message, ...shown].join(" ")}\n`);
      };
    return {
      error: print("error"),
      warn: print("warn"),
      info: print("info"),
      debug: print("debug"),
      child: (fields) => withFields({ ...fixed, ...fields }),
    };
  };
  return withFields({});
}

function fieldText(value: unknown): string {
  const text =
    value instanceof Error ? errorText(value) : typeof value === "string" ? value : jsonText(value);
  return /[\s"=]/.test(text) && (typeof value === "string" || value instanceof Error)
    ? JSON.stringify(text)
    : text;
}

function errorText(error: Error): string {
  const causes: string[] = [];
  for (let each: unknown = error; each instanceof Error && causes.length < causesMax; each = each.cause)
    causes.push(each.message);
  return causes.filter((text, index) => index === 0 || !causes[index - 1]!.includes(text)).join(": ");
}

const causesMax = 8;

function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value); // a circle, or a bigint
  }
}
