import { Worker } from "node:worker_threads";
import { WorkerControl, type ending, type WorkerCounters } from "./worker-control.ts";
import type { FromWorker, ToWorker, WorkerStart } from "./worker-messages.ts";

/** A message that a thread could not answer by itself. */
export type DeferredMessage = Extract<FromWorker, { kind: "deferred" }>;

/** A running thread as the main thread sees it. */
export class UdpThread {
  /** Resolves when it answers; rejects when it ended before that. */
  readonly ready: Promise<void>;
  /** Resolves when it has ended, with the error that ended it, if there was one. */
  readonly ended: Promise<Error | undefined>;
  hasEnded = false;
  readonly #worker: Worker;
  readonly #control: WorkerControl = new WorkerControl();

  constructor(start: Omit<WorkerStart, "control">, onDeferred: (message: DeferredMessage) => void) {
    const control = this.#control;
    const worker = new Worker(new URL("./udp-worker.js", import.meta.url), {
      workerData: { ...start, control: control.memory } satisfies WorkerStart,
      name: `dns udp ${start.slot}`,
    });
    this.#worker = worker;
    let failure: Error | undefined;
    this.ended = new Promise((resolve) => {
      worker.on("error", (error) => (failure = error));
      worker.on("exit", (code) => {
        this.hasEnded = true;
        resolve(failure ?? (code === 0 ? undefined : new Error(`the thread ended with code ${code}`)));
      });
    });
    this.ready = new Promise((resolve, reject) => {
      worker.on("message", (message: FromWorker) => {
        if (message.kind === "ready") return resolve();
        control.releaseDeferred();
        onDeferred(message);
      });
      void this.ended.then((error) => reject(error ?? new Error("the thread ended before it was ready")));
    });
    // Whoever does not wait for it learns of the end by `ended`.
    this.ready.catch(() => {});
  }

  get counters(): WorkerCounters {
    return this.#control.counters;
  }

  post(message: ToWorker): void {
    this.#worker.postMessage(message);
    this.#control.announceMail();
  }

  /** Has it end: at once after the batch that it is at, or after it has answered all that is queued. */
  end(how: (typeof ending)["now" | "drained"]): void {
    this.#control.end(how);
  }

  /** Ends it from outside, wherever it is. */
  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }
}
