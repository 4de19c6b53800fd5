import assert from "node:assert/strict";
import { isStatusError, type Status } from "@meridian/kube";

/** What a refusal must say. */
export interface ExpectedRefusal {
  readonly code: number;
  readonly reason: string;
  /** Must occur in the server's message. */
  readonly says?: RegExp;
}

/** The server's answer, as an error. */
export type Refusal = Error & { readonly status: Status };

/** Waits for a request that must be refused, and returns the refusal. */
export async function refusal(request: Promise<unknown>, expected: ExpectedRefusal): Promise<Refusal> {
  const outcome = await request.then(
    (answer) => ({ answer }),
    (error: unknown) => ({ error }),
  );
  if (!("error" in outcome))
    assert.fail(`it was not refused, but answered ${JSON.stringify(outcome.answer)}`);
  const { error } = outcome;
  if (!isStatusError(error)) throw error;
  const { code, reason } = expected;
  assert.deepEqual({ code: error.code, reason: error.reason }, { code, reason }, error.message);
  if (expected.says !== undefined) assert.match(error.status.message ?? "", expected.says);
  return error;
}
