import { ControllerError } from "../controller-error.ts";

/** Causes that are followed; deeper ones are left out. */
const causesMax = 8;

/**
 * An error after which trying again is no use until something changes: thrown by a reconcile, it is reported and the key is
 * left alone.
 *
 *     throw terminalError("spec.schedule is no schedule", { cause });
 */
export function terminalError(message: string, options?: ErrorOptions): ControllerError {
  return new ControllerError("Terminal", message, options);
}

/** Whether an error, or one of its causes, is terminal. */
export function isTerminal(error: unknown): boolean {
  return causesOf(error).some((each) => each.code === "Terminal");
}

/** An error and its causes on one line, each said once. */
export function errorText(error: unknown): string {
  const causes = causesOf(error);
  if (causes.length === 0) return String(error);
  return causes
    .map(({ message }) => message)
    .filter(
      (message, at, all) => message !== "" && !all.slice(0, at).some((outer) => outer.includes(message)),
    )
    .join(": ");
}

function causesOf(error: unknown): readonly (Error & { readonly code?: unknown })[] {
  const causes: Error[] = [];
  for (let each = error; each instanceof Error && causes.length < causesMax; each = each.cause)
    causes.push(each);
  return causes;
}
