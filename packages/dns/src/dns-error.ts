/** What went wrong; see the table in the package's README for causes and remedies. */
export type DnsErrorCode =
  | "BadName"
  | "BadRecord"
  | "BadMessage"
  | "BadZone"
  | "BadTransfer"
  | "BadKey"
  | "BadGeoData"
  | "BadJournal"
  | "TooLarge";

/** The one error of this package. Answering never throws it: it is for parsing text, composing messages and changing zones. */
export class DnsError extends Error {
  override readonly name = "DnsError";
  readonly code: DnsErrorCode;
  constructor(code: DnsErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** What a DnsError says, for problems that are told as values; throws everything else on. */
export function dnsErrorText(error: unknown): string {
  if (error instanceof DnsError) return error.message;
  throw error;
}
