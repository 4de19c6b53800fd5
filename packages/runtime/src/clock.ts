/** Wall time, measuring time and waiting. Nothing outside `runtime/node` reads a real clock. */
export interface Clock {
  /** Wall time in milliseconds since the Unix epoch. It may jump in both directions. */
  now(): number;
  /** Milliseconds since an arbitrary start. It only rises: measure durations and deadlines with this one. */
  monotonicMs(): number;
  /** Resolves after `ms`, never earlier by `monotonicMs`; rejects with `signal.reason` as soon as the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `callback` once after `ms`, never earlier by `monotonicMs`. The returned function cancels it and may be called at any time. */
  after(ms: number, callback: () => void): () => void;
}
