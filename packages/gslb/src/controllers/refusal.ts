import { isStatusError, type StatusFailure } from "@meridian/kube";

/** Codes that trying again does not change: a bad request, no permission, too large, invalid. */
const codes: readonly number[] = [400, 403, 413, 422];

/** How soon what was refused is tried again: somebody must change something first, and may do so where nobody here sees it. */
export const refusedMs = 60_000;

/** True where the API server will not take what was written, and trying again will hardly help. */
export function isRefusal(error: unknown): error is StatusFailure {
  return isStatusError(error) && codes.includes(error.code);
}
