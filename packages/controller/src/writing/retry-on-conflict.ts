import { isConflict } from "@meridian/kube";
import type { Clock, Random } from "@meridian/runtime";

/** How often and until when to try. */
export interface ConflictRetryOptions {
  /** Default 5. */
  readonly attemptsMax?: number;
  readonly signal?: AbortSignal;
}

/** Wait between two attempts, plus up to a tenth: client-go's. Long enough for a watch event to arrive. */
const waitMs = 10;

/**
 * Runs `attempt` again while it fails with a 409 Conflict. It must read the newest state itself, or the next write
 * conflicts as well. The last conflict is thrown.
 */
export async function retryOnConflict<R>(
  runtime: { readonly clock: Pick<Clock, "sleep">; readonly random: Pick<Random, "float"> },
  attempt: () => Promise<R>,
  options: ConflictRetryOptions = {},
): Promise<R> {
  const attemptsMax = options.attemptsMax ?? 5;
  for (let count = 1; ; count++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isConflict(error) || count >= attemptsMax) throw error;
    }
    await runtime.clock.sleep(waitMs * (1 + runtime.random.float() / 10), options.signal);
  }
}
