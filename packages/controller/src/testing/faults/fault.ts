import type { HttpClientRequest, HttpHeaders } from "@meridian/runtime";

/** How a watch is ended from between: as a server ends it, inside a document, or as a connection that breaks. */
export type CutKind = "clean" | "inside" | "broken";

/** An answer in the server's place: a Status, as API servers refuse. */
export interface Refusal {
  readonly code: number;
  readonly reason?: string;
  readonly message?: string;
  /** Said in the Status and as a header. */
  readonly retryAfterSeconds?: number;
  readonly headers?: HttpHeaders;
}

/** What befalls one request and its answer. */
export type RequestFault =
  | { readonly do: "refuse"; readonly with: Refusal }
  /** It never gets to the server. */
  | { readonly do: "unreachable" }
  /** The server does it, and the connection breaks before its answer is there. */
  | { readonly do: "loseAnswer" }
  /** The server does it, and nothing is ever heard of it again. */
  | { readonly do: "swallow" }
  /** Half of the answer comes, and then its end, or the end of the connection. */
  | { readonly do: "truncate"; readonly how: "clean" | "broken" }
  /** The answer comes later; those of other requests overtake it. */
  | { readonly do: "delay"; readonly ms: number };

/** What befalls one event of a watch. */
export type EventFault =
  /** The connection breaks in the middle of it. */
  | { readonly do: "break" }
  | { readonly do: "double" }
  /** It keeps what follows waiting, in order. */
  | { readonly do: "delay"; readonly ms: number }
  /** It is missing, and nobody notices: what no honest network does, so a checker must. */
  | { readonly do: "drop" };

/** Refusals that every client meets one day. */
export const refusals: {
  readonly [
    name in "expired" | "unauthorized" | "busy" | "broken" | "unavailable" | "tooLargeVersion"
  ]: Refusal;
} = {
  expired: { code: 410, reason: "Expired", message: "too old resource version: 1 (2)" },
  unauthorized: { code: 401, reason: "Unauthorized", message: "Unauthorized" },
  busy: { code: 429, reason: "TooManyRequests", message: "too many requests", retryAfterSeconds: 1 },
  broken: { code: 500, reason: "InternalError", message: "the store is away" },
  unavailable: { code: 503, reason: "ServiceUnavailable", message: "starting" },
  // Old servers say it in the message only.
  tooLargeVersion: { code: 504, reason: "Timeout", message: "Too large resource version: 9, current: 8" },
};

/** The Status of a refusal, as it stands in an answer or in an ERROR event. */
export function statusOfRefusal({ code, reason, message, retryAfterSeconds }: Refusal): object {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    code,
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
    ...(retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } }),
  };
}

/** Whether a request asks for a watch. */
export function isWatch({ target }: HttpClientRequest): boolean {
  return /[?&]watch=(?:1|true)\b/.test(target);
}
