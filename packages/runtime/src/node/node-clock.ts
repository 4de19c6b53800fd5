import type { Clock } from "../clock.ts";

/** Longer waits are made of several timers: a timer of Node holds at most 2^31 - 1 ms. */
const timerMsMax = 2 ** 31 - 1;

/** Each thread's `performance` begins at zero when the thread does; threads that share memory need one time. */
const threadStartMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** The clock of this machine; its monotonic time is the same in all threads. */
export const nodeClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => threadStartMs + performance.now(),

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
