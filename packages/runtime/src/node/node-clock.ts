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

function after(ms: number, callback: () => void): () => void {
  if (ms === Infinity) return () => {};
  let timer: ReturnType<typeof setTimeout>;
  const arm = (restMs: number): void => {
    const stepMs = Math.min(restMs, timerMsMax);
    timer = setTimeout(() => (restMs > stepMs ? arm(restMs - stepMs) : callback()), stepMs);
  };
  arm(ms);
  return () => clearTimeout(timer);
}
