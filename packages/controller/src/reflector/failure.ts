import { isExpired, isStatusError, isTooLargeResourceVersion } from "@meridian/kube";
import { isApiError } from "../client/api-error.ts";
import { retryAfterMs } from "../client/response-status.ts";

/**
 * What a failed list or watch means for the place in the history.
 *
 * - `expired`: the history from our version on is gone (410, or reasons Expired and Gone, whatever the HTTP status).
 * - `too large`: this server has not reached our version.
 * - `busy`: the server asks to be left alone (429).
 * - `unreachable`: there was no answer at all.
 * - `ended`: a stream that was open has ended or broken; everything before its end was received.
 * - `refused`: the request itself is wrong for this server (4xx).
 * - `other`: anything else.
 */
export interface Failure {
  readonly kind: "expired" | "too large" | "busy" | "unreachable" | "ended" | "refused" | "other";
  /** What the server asked for. */
  readonly retryAfterMs?: number;
}

/** Classifies an error of a list, of the opening of a watch, or of an open watch. */
export function failureOf(error: unknown, options: { readonly opened?: boolean } = {}): Failure {
  if (isExpired(error)) return { kind: "expired" };
  if (isTooLargeResourceVersion(error)) return { kind: "too large" };
  if (isStatusError(error)) return { kind: kindOfCode(error.code), ...retryAfter(error) };
  const reason = isApiError(error) ? error.reason : (error as { readonly code?: unknown } | undefined)?.code;
  if (reason === "Unreachable" || reason === "DeadlineExceeded" || reason === "TruncatedResponse") {
    return { kind: options.opened === true ? "ended" : "unreachable" };
  }
  return { kind: "other" };
}

function kindOfCode(code: number): Failure["kind"] {
  if (code === 429) return "busy";
  // 401 and 403 may pass when a token or a role arrives; they say nothing about the request's form.
  return code >= 400 && code < 500 && code !== 401 && code !== 403 && code !== 408 ? "refused" : "other";
}

function retryAfter(error: unknown): { readonly retryAfterMs?: number } {
  const ms = retryAfterMs(error);
  return ms === undefined ? {} : { retryAfterMs: ms };
}
