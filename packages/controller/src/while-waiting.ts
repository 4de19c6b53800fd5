/**
 * The outcome of work that others wait for, too: a signal ends the waiting and not the work, which must end by itself. A
 * failure that nobody waits for any more is nobody's.
 */
export function whileWaiting<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
