import type { History } from "./history.ts";
import { StorageError } from "./storage.ts";
import type { Revision, StorageEvent, WatchBatch } from "./storage.ts";

/** A slower watcher is ended, never buffered without end; its client watches again from its last revision. */
export const bufferedEventsMax = 4_096;

/** Most events of one batch while catching up, and most revisions looked at for it. */
const catchUpEventsMax = 512;
const catchUpRevisionsMax = 8_192;

type State =
  /** Reads the history up to the present. Nothing is buffered: the history is the buffer. */
  | { readonly at: "catching up"; readonly delivered: Revision }
  /** Waits for a revision that does not exist yet. */
  | { readonly at: "ahead"; readonly after: Revision }
  /** The hub hands over what happens. */
  | { readonly at: "following" }
  | { readonly at: "ended" };

/** What a watcher needs of the hub that it hangs on. */
export interface WatchSource {
  readonly history: History;
  /** Called once, when the watcher ends for any reason. */
  readonly leave: (watcher: Watcher) => void;
}

/** One open watch: a bounded buffer with one reader. */
export class Watcher implements AsyncIterableIterator<WatchBatch> {
  readonly prefix: string;
  readonly #source: WatchSource;
  readonly #signal: AbortSignal;
  readonly #onAbort: () => void = () => this.end();
  #state: State;
  #chunks: (readonly StorageEvent[])[] = [];
  #buffered = 0;
  /** Told to the reader. Rises only. */
  #progress: Revision;
  #waiting: ((result: IteratorResult<WatchBatch, undefined>) => void) | undefined;

  constructor(source: WatchSource, options: { prefix: string; after: Revision; signal: AbortSignal }) {
    this.prefix = options.prefix;
    this.#source = source;
    this.#signal = options.signal;
    this.#progress = options.after;
    this.#state =
      options.after > source.history.newest
        ? { at: "ahead", after: options.after }
        : { at: "catching up", delivered: options.after };
    if (options.signal.aborted) this.end();
    else options.signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  get ended(): boolean {
    return this.#state.at === "ended";
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<WatchBatch, undefined>> {
    if (this.#waiting !== undefined) {
      return Promise.reject(new Error("a watch has one reader: await its last next() before the next one"));
    }
    switch (this.#state.at) {
      case "ended":
        return Promise.resolve({ done: true, value: undefined });
      case "catching up":
        return this.#catchUp(this.#state.delivered);
      case "following":
        if (this.#buffered > 0) return Promise.resolve({ done: false, value: this.#takeBuffer() });
        break;
      case "ahead":
        break;
    }
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  return(): Promise<IteratorResult<WatchBatch, undefined>> {
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }

  /** Hands over events of the prefix, all of one publication, in revision order. */
  push(events: readonly StorageEvent[], newest: Revision): void {
    const state = this.#state;
    if (state.at === "ahead") {
      if (newest <= state.after) return;
      this.#state = { at: "following" };
      this.#accept(
        events.filter((event) => event.revision > state.after),
        newest,
      );
    } else if (state.at === "following") {
      this.#accept(events, newest);
    }
    // While catching up the history has them.
  }

  /** Tells a waiting reader that nothing of its prefix happened up to `newest`. */
  pushProgress(newest: Revision): void {
    if (this.#state.at === "ahead" && newest > this.#state.after) this.#state = { at: "following" };
    if (this.#state.at === "following" && this.#waiting !== undefined && newest > this.#progress) {
      this.#resolve({ events: [], progress: newest });
    }
  }

  /** Ends the watch without an error. What is buffered is dropped: the reader knows its last revision. */
  end(): void {
    if (this.#state.at === "ended") return;
    this.#state = { at: "ended" };
    this.#chunks = [];
    this.#buffered = 0;
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#source.leave(this);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.({ done: true, value: undefined });
  }

  #accept(events: readonly StorageEvent[], newest: Revision): void {
    if (this.#waiting !== undefined) {
      if (events.length > 0) this.#resolve({ events, progress: newest });
      return;
    }
    if (events.length === 0) return;
    if (this.#buffered + events.length > bufferedEventsMax) {
      this.end();
      return;
    }
    this.#chunks.push(events);
    this.#buffered += events.length;
  }

  #resolve(batch: WatchBatch): void {
    const waiting = this.#waiting!;
    this.#waiting = undefined;
    this.#progress = batch.progress;
    waiting({ done: false, value: batch });
  }

  #takeBuffer(): WatchBatch {
    const events = this.#chunks.length === 1 ? this.#chunks[0]! : this.#chunks.flat();
    this.#chunks = [];
    this.#buffered = 0;
    // Every publication up to the newest revision has been offered to this buffer, and the buffer leaves whole.
    this.#progress = this.#source.history.newest;
    return { events, progress: this.#progress };
  }

  #catchUp(delivered: Revision): Promise<IteratorResult<WatchBatch, undefined>> {
    const { history } = this.#source;
    if (delivered < history.compacted) {
      this.end();
      return Promise.reject(compactedUnderWatch(delivered, history.compacted));
    }
    const events: StorageEvent[] = [];
    const last = Math.min(history.newest, delivered + catchUpRevisionsMax);
    let revision: number = delivered;
    while (revision < last && events.length < catchUpEventsMax) {
      revision += 1;
      const event = history.at(revision);
      if (keyOf(event).startsWith(this.prefix)) events.push(event);
    }
    this.#progress = revision as Revision;
    // No await between reading the newest revision and following: nothing can slip in between.
    this.#state =
      revision === history.newest ? { at: "following" } : { at: "catching up", delivered: this.#progress };
    return Promise.resolve({ done: false, value: { events, progress: this.#progress } });
  }
}

/** The key that an event is about. */
export function keyOf(event: StorageEvent): string {
  return event.type === "put" ? event.record.key : event.key;
}

/** The error of a watch whose history is gone. */
export function compactedUnderWatch(after: Revision, compacted: Revision): StorageError {
  return new StorageError(
    "Compacted",
    `cannot watch from revision ${after}: the history up to ${compacted} was compacted; ` +
      "list again and watch from the list's revision",
  );
}
