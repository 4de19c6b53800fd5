import type { Endpoint, Runtime } from "@meridian/runtime";
import { MmsgBatch, type MmsgSocket } from "@meridian/runtime/node";
import { UdpThread, type DeferredMessage } from "./udp-thread.ts";
import { ending, sumCounters, type WorkerCounters } from "./worker-control.ts";
import type { ToWorker, WorkerStart } from "./worker-messages.ts";

/** A thread that ends by itself this soon after another is not started again at once. */
const steadyMs = 60_000;
const waitMsMax = 10_000;
const waitMsFirst = 100;
/** How long a thread may take to answer what is queued when the server stops. */
const drainMs = 2_000;

/** Which of the two threads that one socket may have at once. */
export type ThreadPlace = 0 | 1;

/** What a socket and the thread that answers it need. */
export interface SocketWorkerOptions {
  readonly socket: MmsgSocket;
  /**
   * What a thread starts with, as things are now. A thread and the one that replaces it run at once for a moment: each place
   * has its own of what only one thread may write.
   */
  readonly start: (place: ThreadPlace) => Omit<WorkerStart, "control" | "socket" | "replaces">;
  /** A reply came after the socket was closed. */
  readonly onReplyLost?: () => void;
  readonly onDeferred: (message: DeferredMessage, reply: (octets: Uint8Array) => void) => void;
}

/**
 * One socket and the thread that answers it. The socket outlives its threads: what arrives while one follows another
 * waits in it, so that none is lost. A thread that ends by a fault of ours is followed by another.
 */
export class SocketWorker {
  readonly #runtime: Runtime;
  readonly #options: SocketWorkerOptions;
  /** For replies to deferred messages, from this thread. */
  readonly #replies: MmsgBatch;
  #thread: UdpThread;
  /** The one that is to replace it, until it answers. */
  #coming: UdpThread | undefined;
  /** The one that was replaced, until it has ended. */
  #leaving: UdpThread | undefined;
  #past: WorkerCounters = sumCounters([]);
  #place: ThreadPlace = 0;
  #closing = false;
  #isClosed = false;
  #restarting: Promise<void> | undefined;
  #cancelRestart: (() => void) | undefined;
  #faults = 0;
  #startedMs = 0;

  constructor(runtime: Runtime, options: SocketWorkerOptions) {
    this.#runtime = runtime;
    this.#options = options;
    this.#replies = new MmsgBatch(options.socket.descriptor, { width: 1 });
    this.#thread = this.#startThread(this.#place, false);
  }

  /** Resolves when its thread answers. */
  get ready(): Promise<void> {
    return this.#thread.ready;
  }

  get local(): Endpoint {
    return this.#options.socket.local;
  }

  get counters(): WorkerCounters {
    const threads = this.#leaving === undefined ? [this.#thread] : [this.#thread, this.#leaving];
    return sumCounters([this.#past, ...threads.map((thread) => thread.counters)]);
  }

  post(message: ToWorker): void {
    this.#thread.post(message);
    this.#coming?.post(message);
  }

  /**
   * Replaces the thread: the new one answers before the old one stops.
   *
   * @throws the error of the new thread when it does not come up; the old one then stays
   */
  restart(): Promise<void> {
    return (this.#restarting ??= this.#restart().finally(() => (this.#restarting = undefined)));
  }

  /** Answers what is queued, then closes the socket. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#cancelRestart?.();
    await this.#restarting?.catch(() => {});
    const thread = this.#thread;
    thread.end(ending.drained);
    const cancel = this.#runtime.clock.after(drainMs, () => void thread.terminate());
    await thread.ended;
    cancel();
    // Only now: a descriptor that a thread still reads from could be another file's by then.
    this.#isClosed = true;
    this.#options.socket[Symbol.dispose]();
    this.#replies[Symbol.dispose]();
  }

  #startThread(place: ThreadPlace, replaces: boolean): UdpThread {
    const { socket, start, onDeferred, onReplyLost } = this.#options;
    this.#startedMs = this.#runtime.clock.monotonicMs();
    const thread = new UdpThread({ ...start(place), socket: socket.descriptor, replaces }, (message) =>
      onDeferred(message, (octets) => {
        if (this.#isClosed) onReplyLost?.();
        else this.#replies.reply(message.peer, octets);
      }),
    );
    void thread.ended.then((error) => this.#onEnded(thread, error));
    return thread;
  }

  async #restart(): Promise<void> {
    const before = this.#thread;
    const place = this.#place === 0 ? 1 : 0;
    const next = this.#startThread(place, true);
    this.#coming = next;
    try {
      await next.ready;
    } catch (error) {
      // A crash of the old one meanwhile was left for the new one to mend.
      if (before.hasEnded) this.#startAnother(before, undefined);
      throw error;
    } finally {
      this.#coming = undefined;
    }
    this.#thread = next;
    this.#place = place;
    this.#leaving = before;
    before.end(ending.now);
    await before.ended;
    this.#leaving = undefined;
    this.#past = sumCounters([this.#past, before.counters]);
  }

  #onEnded(thread: UdpThread, error: Error | undefined): void {
    // One that was replaced, or that never took over, is nothing to be sorry for.
    if (this.#closing || thread !== this.#thread || this.#restarting !== undefined) return;
    this.#startAnother(thread, error);
  }

  #startAnother(ended: UdpThread, error: Error | undefined): void {
    const { clock, log } = this.#runtime;
    const isSteady = clock.monotonicMs() - this.#startedMs >= steadyMs;
    this.#faults = isSteady ? 1 : this.#faults + 1;
    const waitMs = this.#faults === 1 ? 0 : Math.min(waitMsMax, waitMsFirst * 2 ** (this.#faults - 2));
    log.warn("a dns worker thread ended; another takes its socket", { ...this.local, error, waitMs });
    this.#cancelRestart = clock.after(waitMs, () => {
      this.#past = sumCounters([this.#past, ended.counters]);
      this.#thread = this.#startThread(this.#place, false);
    });
  }
}
