import type { Clock } from "../clock.ts";

/** Longer waits are made of several timers: a timer of Node holds at most 2^31 - 1 ms. */
const timerMsMax = 2 ** 31 - 1;

/** The clock of this machine. */
export const nodeClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),

  async sleep(ms, signal) {
    signal?.throwIfAborted();
    return new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        cancel();
        reject(signal?.reason);
      };
      const cancel = after(ms, () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      });
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  },

  after,
};

/** Timers of Node count whole milliseconds of a clock of their own, and may ring a little before their time. */
function after(ms: number, callback: () => void): () => void {
  if (ms === Infinity) return () => {};
  const dueMs = performance.now() + (ms > 0 ? ms : 0);
  let timer: ReturnType<typeof setTimeout>;
  const arm = (): void => {
    const restMs = Math.ceil(dueMs - performance.now());
    timer = setTimeout(() => (performance.now() < dueMs ? arm() : callback()), Math.min(restMs, timerMsMax));
  };
  arm();
  return () => clearTimeout(timer);
}
