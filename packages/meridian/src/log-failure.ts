import type { Logger } from "@meridian/runtime";
import { asMeridianError } from "./fleet/listen-failure.ts";

/** Why a server ended, as lines of its log: the message where it says all, the stack where nobody foresaw it. */
export function logFailure(log: Logger, failure: unknown): void {
  const error = asMeridianError(failure);
  if (!(error instanceof Error) || !("code" in error)) return log.error("the server failed", { error });
  for (const problem of error.message.split("\n"))
    log.error("the server failed", { code: error.code, problem });
}
