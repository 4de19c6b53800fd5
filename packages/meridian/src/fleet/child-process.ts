import type { ChildReport, ChildRole } from "./child-protocol.ts";
import { MeridianError } from "../meridian-error.ts";
import { pinoLogger } from "../pino-logger.ts";

/**
 * Runs this process as a child of `meridian up`: waits for its role, starts what `start` makes of it, reports once, and
 * stops at SIGTERM or when the starting process is gone, so that a killed `meridian up` leaves nobody behind.
 */
export async function runChild(start: (role: ChildRole) => Promise<AsyncDisposable>): Promise<number> {
  if (process.send === undefined) {
    throw new MeridianError("Usage", `this command is started by "meridian up" only; see meridian up --help`);
  }
  const stop = stopRequested();
  const role = await new Promise<ChildRole>((resolve) =>
    process.once("message", (message) => resolve(message as ChildRole)),
  );
  let running: AsyncDisposable;
  try {
    running = await start(role);
  } catch (error) {
    const { code, message } =
      error instanceof MeridianError ? error : { code: "StartFailed" as const, message: String(error) };
    await report({ kind: "failed", code, message });
    if (!(error instanceof MeridianError))
      pinoLogger({ format: "json", level: "error" }).error("the process cannot start", { error });
    return 1;
  }
  await report({ kind: "ready" });
  await stop;
  await running[Symbol.asyncDispose]();
  return 0;
}

/** Resolves at the first reason to stop. Ctrl-C reaches the whole group: the starting process decides what it means. */
function stopRequested(): Promise<void> {
  process.on("SIGINT", () => {});
  process.on("SIGHUP", () => {});
  return new Promise((resolve) => {
    process.once("SIGTERM", () => resolve());
    process.once("disconnect", () => resolve());
  });
}

function report(message: ChildReport): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send?.(message, () => resolve());
    else resolve();
  });
}
