import { StatusError, isTooLargeResourceVersion } from "@meridian/kube";
import type { Status, StatusReason } from "@meridian/kube";
import type { HttpHeaders } from "@meridian/runtime";

/** Longest piece of a foreign body that goes into an error's message. */
const excerptCharactersMax = 200;

/** An answer that is no success. */
export interface FailedResponse {
  readonly code: number;
  readonly headers: HttpHeaders;
  readonly body: string;
  /** What was attempted, for the message of a synthesised Status: `get services default/web`. */
  readonly attempt: string;
}

/** The Status in the body, or one made from the code where something else than an API server answered. */
export function statusErrorOf(response: FailedResponse): StatusError {
  const status = parsedStatus(response.body) ?? synthesisedStatus(response);
  const retryAfterSeconds = status.details?.retryAfterSeconds ?? retryAfterSecondsOf(response.headers);
  return new StatusError({
    ...status,
    code: response.code,
    ...(retryAfterSeconds === undefined ? {} : { details: { ...status.details, retryAfterSeconds } }),
  });
}

/** How long the server asked to be left alone; `undefined` where it did not. */
export function retryAfterMs(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("status" in error)) return undefined;
  const seconds = (error as StatusError).status.details?.retryAfterSeconds;
  return seconds === undefined || seconds <= 0 ? undefined : seconds * 1000;
}

/** What one request has been through. */
export interface RetryState {
  /** GET and nothing else: repeating it changes nothing. */
  readonly safe: boolean;
  readonly attempt: number;
}

/** Attempts of one request, as client-go makes them. */
const attemptsMax = 10;

/**
 * How long to wait before the same request is sent again; `undefined`: do not. A server that says 429 has not begun, so
 * any request may follow; after a 5xx nobody knows, so only safe ones do. Both only where the server names a time, and
 * not where it lacks the version asked for: it is the caller who must ask for another.
 */
export function retryDelayMs(error: StatusError, state: RetryState): number | undefined {
  if (state.attempt >= attemptsMax || isTooLargeResourceVersion(error)) return undefined;
  if (error.code === 429) return retryAfterMs(error) ?? 1000;
  return state.safe && error.code >= 500 ? retryAfterMs(error) : undefined;
}

function parsedStatus(body: string): Status | undefined {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value !== "object" || value === null) return undefined;
    return (value as Status).kind === "Status" ? (value as Status) : undefined;
  } catch {
    return undefined;
  }
}

function synthesisedStatus({ code, body, attempt }: FailedResponse): Status {
  const text = body.trim().replace(/\s+/g, " ").slice(0, excerptCharactersMax);
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `cannot ${attempt}: the server answered HTTP ${code}${text === "" ? "" : `: ${text}`}`,
    ...(reasons.has(code) ? { reason: reasons.get(code) as StatusReason } : {}),
    code,
  };
}

/** The reason that a bare code stands for. 409 is left out: it may be a conflict or a name that is taken. */
const reasons: ReadonlyMap<number, StatusReason> = new Map([
  [400, "BadRequest"],
  [401, "Unauthorized"],
  [403, "Forbidden"],
  [404, "NotFound"],
  [405, "MethodNotAllowed"],
  [406, "NotAcceptable"],
  [410, "Expired"],
  [413, "RequestEntityTooLarge"],
  [415, "UnsupportedMediaType"],
  [422, "Invalid"],
  [429, "TooManyRequests"],
  [500, "InternalError"],
  [503, "ServiceUnavailable"],
  [504, "Timeout"],
]);

/** RFC 9110 §10.2.3. API servers send seconds; a date says only that there is a wait, taken as one second. */
function retryAfterSecondsOf(headers: HttpHeaders): number | undefined {
  const value = headers["retry-after"];
  if (value === undefined) return undefined;
  return /^\d{1,6}$/.test(value) ? Number(value) : 1;
}
