/**
 * The outcome of work that goes on whoever waits for it: a signal ends the waiting, by a rejection with its reason, and not the
 * work, which must end by itself. A failure that nobody waits for any more is nobody's. Leaves no listener behind.
 */
export function whileWaiting<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
