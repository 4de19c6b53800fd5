/** Reasons of the API's `Status` that clients act on (API conventions, "Response Status Kind"). */
export type StatusReason =
  | "BadRequest"
  | "Unauthorized"
  | "Forbidden"
  | "NotFound"
  | "AlreadyExists"
  | "Conflict"
  | "Gone"
  | "Expired"
  | "Invalid"
  | "ServerTimeout"
  | "Timeout"
  | "TooManyRequests"
  | "MethodNotAllowed"
  | "NotAcceptable"
  | "RequestEntityTooLarge"
  | "UnsupportedMediaType"
  | "InternalError"
  | "ServiceUnavailable";

/** One cause of a failure: which field, which rule. */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** The API's answer where there is no object to return. */
export interface Status {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata: { readonly continue?: string };
  readonly status: "Success" | "Failure";
  readonly message?: string;
  /** A `StatusReason`, or one that this code does not know. */
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code: number;
}

/** A failure that the API reports as a `Status`: thrown by the server's parts, and by a client that received one. */
export class StatusError extends Error {
  override readonly name = "StatusError";
  readonly status: Status;
  constructor(status: Status, options?: ErrorOptions) {
    super(status.message ?? status.reason ?? `HTTP ${status.code}`, options);
    this.status = status;
  }
  /** HTTP status code. */
  get code(): number {
    return this.status.code;
  }
  get reason(): string {
    return this.status.reason ?? "";
  }
}
