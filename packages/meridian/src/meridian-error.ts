/** Why the command could not do what it was asked; causes and remedies stand in the README's table. */
export type MeridianErrorCode =
  | "Usage"
  | "FolderLocked"
  | "FolderUnusable"
  | "PortTaken"
  | "PermissionDenied"
  | "AddressMissing"
  | "StartFailed"
  | "BadFile"
  | "NotRunning"
  | "TimedOut";

/** A failure that a person meets. Its message is one line: what was attempted, with which values, what to do next. */
export class MeridianError extends Error {
  override readonly name = "MeridianError";
  readonly code: MeridianErrorCode;
  constructor(code: MeridianErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The process's exit code for a failure: 2 for a mistake on the command line, 1 for everything else. */
export function exitCodeOf(error: unknown): number {
  return error instanceof MeridianError && error.code === "Usage" ? 2 : 1;
}

/** What an error says, whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
