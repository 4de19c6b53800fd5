import type { Status } from "./status.ts";

/** An error that carries the API's `Status`: a `StatusError`, or what a client throws for one that it received. */
export interface StatusFailure extends Error {
  readonly status: Status;
  /** HTTP status code. */
  readonly code: number;
  readonly reason: string;
}

/** True for an error that carries the API's `Status`, also one of another copy of this package. */
export function isStatusError(error: unknown): error is StatusFailure {
  if (!(error instanceof Error) || !("status" in error)) return false;
  return typeof error.status === "object" && error.status !== null;
}

/** True if there is no such object, also where a bare 404 says so. */
export function isNotFound(error: unknown): boolean {
  return isStatusError(error) && error.code === 404;
}

/** True if the name of an object to be created is taken. It has the code of a conflict, and another reason. */
export function isAlreadyExists(error: unknown): boolean {
  return isStatusError(error) && error.reason === "AlreadyExists";
}

/** True for a write that saw an older state than the newest. */
export function isConflict(error: unknown): boolean {
  return isStatusError(error) && error.code === 409 && error.reason !== "AlreadyExists";
}

/** True if a Status says that the version asked for is newer than the store. */
export function isTooLargeResourceVersion(error: unknown): boolean {
  if (!isStatusError(error) || error.reason !== "Timeout") return false;
  const { details, message } = error.status;
  return (
    (details?.causes ?? []).some((cause) => cause.reason === "ResourceVersionTooLarge") ||
    (message ?? "").includes("Too large resource version")
  );
}

/** True if the history that a request needed is gone: reasons `Expired` and `Gone`, and bare code 410. */
export function isExpired(error: unknown): boolean {
  return (
    isStatusError(error) && (error.code === 410 || error.reason === "Expired" || error.reason === "Gone")
  );
}
