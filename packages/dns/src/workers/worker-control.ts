/** How a thread is to end: not; at once; after it has answered all that is queued. */
export const ending = { none: 0, now: 1, drained: 2 } as const;

/** Numbers of one thread since its start. Written by it alone. */
export interface WorkerCounters {
  readonly received: number;
  readonly answered: number;
  /** Answers that the kernel did not take. */
  readonly unsendable: number;
  /** Datagrams from port 0. */
  readonly unanswerable: number;
  /** Messages handed to the main thread. */
  readonly deferred: number;
  /** Messages that it had no room for. */
  readonly deferredLost: number;
}

/** Those of them that `MmsgBatch` counts. */
type BatchCounters = Pick<WorkerCounters, "received" | "answered" | "unsendable" | "unanswerable">;

const counterNames = [
  "received",
  "answered",
  "unsendable",
  "unanswerable",
  "deferred",
  "deferredLost",
] as const satisfies readonly (keyof WorkerCounters)[];

const word = { ending: 0, mail: 1, deferredPending: 2 } as const;
const wordOctets = 64;
/** More messages than this wait for the main thread of one worker: it is flooded, and loses them as a full queue does. */
const deferredPendingMax = 1_024;

/**
 * What the main thread and one worker tell each other without a message: the worker looks here after each batch, which
 * costs next to nothing, and takes messages only when it is told that there are some.
 */
export class WorkerControl {
  readonly memory: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #counters: Float64Array;
  #mailSeen = 0;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(wordOctets + 8 * counterNames.length)) {
    this.memory = memory;
    this.#words = new Int32Array(memory, 0, wordOctets >>> 2);
    this.#counters = new Float64Array(memory, wordOctets);
  }

  get ending(): number {
    return Atomics.load(this.#words, word.ending);
  }

  end(how: (typeof ending)["now" | "drained"]): void {
    Atomics.store(this.#words, word.ending, how);
  }

  /** Says that a message was posted. */
  announceMail(): void {
    Atomics.add(this.#words, word.mail, 1);
  }

  /** Whether messages were posted since the last time this was asked. */
  takeMail(): boolean {
    const posted = Atomics.load(this.#words, word.mail);
    if (posted === this.#mailSeen) return false;
    this.#mailSeen = posted;
    return true;
  }

  /** Takes room for one message to the main thread; false when it has too many already. */
  reserveDeferred(): boolean {
    if (Atomics.load(this.#words, word.deferredPending) >= deferredPendingMax) return false;
    Atomics.add(this.#words, word.deferredPending, 1);
    return true;
  }

  releaseDeferred(): void {
    Atomics.sub(this.#words, word.deferredPending, 1);
  }

  /** Called after each batch, so it allocates nothing. In the order of `counterNames`. */
  setCounters(batch: BatchCounters, deferred: number, deferredLost: number): void {
    const counters = this.#counters;
    counters[0] = batch.received;
    counters[1] = batch.answered;
    counters[2] = batch.unsendable;
    counters[3] = batch.unanswerable;
    counters[4] = deferred;
    counters[5] = deferredLost;
  }

  get counters(): WorkerCounters {
    const [received = 0, answered = 0, unsendable = 0, unanswerable = 0, deferred = 0, deferredLost = 0] =
      this.#counters;
    return { received, answered, unsendable, unanswerable, deferred, deferredLost };
  }
}

/** The sum over threads. */
export function sumCounters(all: readonly WorkerCounters[]): WorkerCounters {
  const sums = counterNames.map((name) => [name, all.reduce((sum, counters) => sum + counters[name], 0)]);
  return Object.fromEntries(sums);
}
