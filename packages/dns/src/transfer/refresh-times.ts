import type { ZoneSoa } from "../zone/zone-apex.ts";

/** What a secondary makes of the times in an SOA, whatever the primary says. In seconds. */
export interface RefreshBounds {
  /** Default 5. */
  readonly refreshMin?: number;
  /** Default 4 weeks. */
  readonly refreshMax?: number;
  /** Default 2. */
  readonly retryMin?: number;
  /** Default 2 weeks. */
  readonly retryMax?: number;
  /** Default 24 weeks. */
  readonly expireMax?: number;
}

const weekSeconds = 7 * 86_400;

/** The times of an SOA within bounds, in milliseconds; a zone never expires before a check and a retry were due. Pure. */
export function refreshTimes(
  { refresh, retry, expire }: Pick<ZoneSoa, "refresh" | "retry" | "expire">,
  bounds: RefreshBounds = {},
): { readonly refreshMs: number; readonly retryMs: number; readonly expireMs: number } {
  const refreshSeconds = Math.min(
    Math.max(refresh, bounds.refreshMin ?? 5),
    bounds.refreshMax ?? 4 * weekSeconds,
  );
  const retrySeconds = Math.min(Math.max(retry, bounds.retryMin ?? 2), bounds.retryMax ?? 2 * weekSeconds);
  const expireSeconds = Math.min(expire, bounds.expireMax ?? 24 * weekSeconds);
  return {
    refreshMs: refreshSeconds * 1000,
    retryMs: retrySeconds * 1000,
    expireMs: Math.max(expireSeconds, refreshSeconds + retrySeconds) * 1000,
  };
}

/** Between three quarters of a time and all of it, so that many zones do not come at once. */
export function jittered(ms: number, random: { float(): number }): number {
  return ms * (0.75 + 0.25 * random.float());
}
