import { isTooLargeResourceVersion } from "@meridian/kube";
import type { ApiError } from "./api-error.ts";
import { retryAfterMs } from "./response-status.ts";

/** What one request has been through. */
export interface RetryState {
  /** GET and nothing else: repeating it changes nothing. */
  readonly safe: boolean;
  /** Times that it was sent. */
  readonly attempt: number;
}

/** Attempts of one request, as client-go makes them. */
const attemptsMax = 10;

/** What a busy server that names no time is given. */
const defaultWaitMs = 1000;

/**
 * How long to wait before the same request is sent again; `undefined`: do not.
 *
 * A server that says 429, or 503 with Retry-After, has not begun (RFC 9110 §15.6.4), so any request may follow; after
 * another 5xx nobody knows, so only safe ones do, and only where the server names a time. (client-go repeats writes
 * then, too, and may do them twice.) A version that the server lacks is the caller's to change.
 */
export function retryDelayMs(error: ApiError, state: RetryState): number | undefined {
  if (state.attempt >= attemptsMax || isTooLargeResourceVersion(error)) return undefined;
  if (error.code === 429) return retryAfterMs(error) ?? defaultWaitMs;
  const mayRepeat = error.code === 503 || (state.safe && error.code >= 500);
  return mayRepeat ? retryAfterMs(error) : undefined;
}
