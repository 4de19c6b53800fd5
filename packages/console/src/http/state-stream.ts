import type { Clock, HttpResponse } from "@meridian/runtime";
import type { LabState } from "../lab-state.ts";
import { respondText } from "./respond-text.ts";

/** Whoever has states to tell. */
export interface StateSource {
  readonly state: LabState;
  subscribe(listener: (state: LabState) => void): () => void;
}

/** Streams at once: a page has one, and a browser opens six connections to a server at most. */
const streamsMax = 32;
/** Between two states of one stream. */
const intervalMs = 30;

/**
 * Sends states as server-sent events named `state`, whole and newest first: a reader that is slow misses some, never the last.
 */
export class StateStreams {
  readonly #clock: Clock;
  readonly #source: StateSource;
  #open = 0;

  constructor(clock: Clock, source: StateSource) {
    this.#clock = clock;
    this.#source = source;
  }

  /** A stream that goes on until the signal aborts; 503 when there are too many. */
  respond(signal: AbortSignal): HttpResponse {
    if (this.#open >= streamsMax) {
      const busy = respondText(503, `${streamsMax} pages are open already`);
      return { ...busy, headers: { ...busy.headers, "retry-after": "5" } };
    }
    return { status: 200, headers: { "content-type": "text/event-stream" }, body: this.#states(signal) };
  }

  async *#states(signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
    let sent = 0;
    let wake = (): void => {};
    const stop = (): void => wake();
    const unsubscribe = this.#source.subscribe(() => wake());
    signal.addEventListener("abort", stop, { once: true });
    this.#open++;
    try {
      yield encoder.encode("retry: 1000\n\n");
      while (!signal.aborted) {
        const { state } = this.#source;
        if (state.counter > sent) {
          sent = state.counter;
          yield encoder.encode(`event: state\nid: ${state.counter}\ndata: ${JSON.stringify(state)}\n\n`);
          await this.#clock.sleep(intervalMs, signal).catch(() => {});
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve;
            if (signal.aborted) resolve();
          });
        }
      }
    } finally {
      this.#open--;
      unsubscribe();
      signal.removeEventListener("abort", stop);
    }
  }
}

const encoder = new TextEncoder();
