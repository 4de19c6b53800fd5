/** How often in a row things went wrong. */
export interface Backoff {
  readonly failures: number;
  readonly lastFailureMs: number;
}

/** Nothing has gone wrong yet. */
export const noFailures: Backoff = { failures: 0, lastFailureMs: 0 };

const firstWaitMs = 800;
/** With the jitter of up to 100 %, no wait is longer than twice this: 30 s. */
const baseWaitMsMax = 15_000;
/** After this long without a failure the next one counts as the first. */
const resetAfterMs = 120_000;

/** Counts a failure at a monotonic time. */
export function afterFailure(backoff: Backoff, atMs: number): Backoff {
  const quiet = atMs - backoff.lastFailureMs > resetAfterMs;
  return { failures: quiet ? 1 : backoff.failures + 1, lastFailureMs: atMs };
}

/** How long to wait after the n-th failure in a row. `jitter` is in [0, 1). */
export function backoffMs(failures: number, jitter: number): number {
  if (failures <= 0) return 0;
  return Math.min(firstWaitMs * 2 ** (failures - 1), baseWaitMsMax) * (1 + jitter);
}
