import { NetworkError, whileWaiting } from "@meridian/runtime";
import type {
  Clock,
  HttpClient,
  HttpClientRequest,
  HttpClientResponse,
  Random,
  Runtime,
} from "@meridian/runtime";
import { isWatch, statusOfRefusal } from "./fault.ts";
import type { CutKind, EventFault, Refusal, RequestFault } from "./fault.ts";
import type { FaultObserver } from "./fault-observer.ts";
import { FaultyExchange } from "./faulty-exchange.ts";
import type { Piece } from "./faulty-exchange.ts";
import { gate } from "./gate.ts";
import { LineCutter } from "./line-cutter.ts";
import { randomChunks } from "./random-chunks.ts";
import { changedBookmark, lineKind } from "./watch-line.ts";
import { WatchPast } from "./watch-past.ts";
import { withHttpClient } from "./with-http-client.ts";

/** A fault that waits for its request. */
interface WaitingFault {
  readonly fault: RequestFault;
  readonly meant: (request: HttpClientRequest) => boolean;
}

/** Which requests a fault is for. */
export interface FaultAim {
  /** How many requests in a row. Default 1. */
  readonly times?: number;
  /** Default: any. */
  readonly only?: (request: HttpClientRequest) => boolean;
}

/**
 * A middlebox between clients and their API server that does what networks and servers under stress do, when it is told to.
 * Neither end knows of it.
 *
 * ```ts
 * const box = new FaultyHttp(runtime);
 * const client = new KubeClient(box.inFrontOf(runtime), { origin });
 * box.cutWatches("inside");                                   // a watch ends in the middle of a document
 * box.befallRequest({ do: "refuse", with: refusals.busy });   // 429 with Retry-After
 * box.failWatches(refusals.expired);                          // an ERROR event inside a 200
 * box.silence();                                              // a black hole, until box.connect()
 * ```
 *
 * Octets are cut and joined at random places, as connections do it, unless `chunks` is "whole".
 */
export class FaultyHttp {
  /** Bookmarks do not come through, but for the one that ends the initial state. */
  suppressBookmarks = false;
  /** The bookmark that ends the initial state comes without its mark, as through some proxies. */
  stripInitialEventsEnd = false;
  /** Each answer waits for a time between these, so that answers overtake each other. */
  answerDelayMs: { readonly min: number; readonly max: number } = { min: 0, max: 0 };
  readonly #clock: Pick<Clock, "sleep" | "monotonicMs">;
  readonly #random: Pick<Random, "uint32" | "float">;
  readonly #chunks: "random" | "whole";
  readonly #observer: FaultObserver;
  readonly #exchanges = new Set<FaultyExchange>();
  readonly #watches = new Set<FaultyExchange>();
  readonly #requestFaults: WaitingFault[] = [];
  readonly #eventFaults: EventFault[] = [];
  readonly #past = new WatchPast();
  #mode: "open" | "cut" | "silent" = "open";
  #connected = gate();
  #heldUntilMs = -Infinity;
  #watchAnsweredMs = -Infinity;

  constructor(
    runtime: {
      readonly clock: Pick<Clock, "sleep" | "monotonicMs">;
      readonly random: Pick<Random, "uint32" | "float">;
    },
    options: { readonly chunks?: "random" | "whole"; readonly observer?: FaultObserver } = {},
  ) {
    this.#clock = runtime.clock;
    this.#random = runtime.random;
    this.#chunks = options.chunks ?? "random";
    this.#observer = options.observer ?? {};
  }

  get mode(): "open" | "cut" | "silent" {
    return this.#mode;
  }

  /** How many watches are open. */
  get watches(): number {
    return this.#watches.size;
  }

  /** When the newest watch was answered, by the clock's `monotonicMs`; `-Infinity` before the first. */
  get watchAnsweredMs(): number {
    return this.#watchAnsweredMs;
  }

  /** Events of watches that came from the server and have not been let through. */
  get heldEvents(): number {
    let held = 0;
    for (const exchange of this.#exchanges) held += exchange.waitingEvents;
    return held;
  }

  /** The runtime with this box before its HTTP clients. */
  inFrontOf(runtime: Runtime): Runtime {
    return withHttpClient(runtime, (options) => this.client(runtime.network.httpClient(options)));
  }

  /** A client with this box before it. */
  client(inner: HttpClient): HttpClient {
    return {
      request: (request) => this.#request(inner, request),
      [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
    };
  }

  /** Breaks what is under way; new exchanges wait, as a dial does that nobody answers, until `connect`. */
  cut(): void {
    this.#leaveOpen("cut");
    for (const exchange of [...this.#exchanges]) exchange.fail(broken());
  }

  /** Lets nothing through in either direction and breaks nothing; at `connect` all of it comes. */
  silence(): void {
    this.#leaveOpen("silent");
  }

  /** Ends a `cut` or `silence`. */
  connect(): void {
    this.#mode = "open";
    this.#connected.open();
    this.#changed();
  }

  /** Ends the watches that are open now. */
  cutWatches(kind: CutKind): void {
    for (const watch of [...this.#watches]) {
      if (kind === "inside") watch.push(piece('{"type":"MODIFIED","object":{"kind":"Conf'));
      this.#watches.delete(watch);
      watch.end(kind === "broken" ? broken() : undefined);
    }
  }

  /** Sends an ERROR event on the watches that are open now, and leaves them open. */
  failWatches(refusal: Refusal): void {
    this.forge(`${JSON.stringify({ type: "ERROR", object: statusOfRefusal(refusal) })}\n`);
  }

  /** Delivers to each watch a line of its past once more: the last one, or one so many before it. */
  repeat(back: number): void {
    for (const watch of this.#watches) {
      const octets = watch.past.at(-1 - back);
      if (octets !== undefined) watch.push({ octets });
    }
  }

  /** Delivers octets to each watch that no server sent. */
  forge(text: string): void {
    for (const watch of this.#watches) watch.push(piece(text));
  }

  /** Holds everything up from now on for so long; what waits then arrives at once and in order. */
  hold(ms: number): void {
    this.#heldUntilMs = Math.max(this.#heldUntilMs, this.#clock.monotonicMs() + ms);
  }

  /** The next requests (that are meant) meet this fault; faults for the same request meet it in turn. */
  befallRequest(fault: RequestFault, { times = 1, only = () => true }: FaultAim = {}): void {
    for (let count = 0; count < times; count++) this.#requestFaults.push({ fault, meant: only });
  }

  /** The next event of a watch meets this fault. */
  befallEvent(fault: EventFault): void {
    this.#eventFaults.push(fault);
  }

  /** Forgets the faults that wait for an event. */
  spareEvents(): void {
    this.#eventFaults.length = 0;
  }

  /** Forgets the faults that have not met anything, and lets everything through. */
  calm(): void {
    this.#requestFaults.length = 0;
    this.spareEvents();
    this.#heldUntilMs = -Infinity;
    this.suppressBookmarks = false;
    this.stripInitialEventsEnd = false;
    this.answerDelayMs = { min: 0, max: 0 };
    this.connect();
  }

  #leaveOpen(mode: "cut" | "silent"): void {
    if (this.#mode === "open") this.#connected = gate();
    this.#mode = mode;
    this.#changed();
  }

  #changed(): void {
    this.#observer.onChange?.();
  }

  async #request(inner: HttpClient, request: HttpClientRequest): Promise<HttpClientResponse> {
    const at = this.#requestFaults.findIndex(({ meant }) => meant(request));
    const fault = at < 0 ? undefined : this.#requestFaults.splice(at, 1)[0]?.fault;
    const watches = isWatch(request);
    const exchange = new FaultyExchange(request.signal, watches ? this.#past.of(request) : []);
    this.#exchanges.add(exchange);
    const forget = (): void => this.#forget(exchange);
    exchange.signal.addEventListener("abort", forget, { once: true });
    try {
      await this.#passable(exchange.signal);
      if (fault?.do === "unreachable") throw new NetworkError("Unreachable", "the network has no way there");
      if (fault?.do === "refuse") return this.#refused(fault.with, exchange);
      const response = await inner.request({ ...request, signal: exchange.signal });
      if (fault?.do === "loseAnswer") throw broken();
      if (fault?.do === "swallow") await whileWaiting(never(), exchange.signal);
      await this.#delayAnswer(fault, exchange.signal);
      await this.#passable(exchange.signal);
      if (watches && response.status < 300) this.#watches.add(exchange);
      if (watches) this.#watchAnsweredMs = this.#clock.monotonicMs();
      this.#changed();
      void this.#receive(response, { exchange, watches, fault });
      return { ...response, body: this.#body(exchange) };
    } catch (error) {
      this.#forget(exchange);
      throw exchange.signal.aborted ? exchange.signal.reason : error;
    }
  }

  #refused(refusal: Refusal, exchange: FaultyExchange): HttpClientResponse {
    exchange.push(piece(JSON.stringify(statusOfRefusal(refusal))));
    exchange.end();
    const { retryAfterSeconds } = refusal;
    return {
      status: refusal.code,
      headers: {
        "content-type": "application/json",
        ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
        ...refusal.headers,
      },
      body: this.#body(exchange),
    };
  }

  async #delayAnswer(fault: RequestFault | undefined, signal: AbortSignal): Promise<void> {
    const { min, max } = this.answerDelayMs;
    const ms = fault?.do === "delay" ? fault.ms : max > 0 ? min + (max - min) * this.#random.float() : 0;
    if (ms > 0) await this.#clock.sleep(ms, signal);
  }

  /** Takes what the server sends: a watch by lines, everything else as it comes. */
  async #receive(
    response: HttpClientResponse,
    how: {
      readonly exchange: FaultyExchange;
      readonly watches: boolean;
      readonly fault: RequestFault | undefined;
    },
  ): Promise<void> {
    const { exchange, fault } = how;
    const byLine = how.watches && response.status < 300;
    const cutter = new LineCutter();
    try {
      for await (const octets of response.body) {
        if (fault?.do === "truncate") {
          exchange.push({ octets: octets.slice(0, octets.length >> 1) });
          exchange.end(fault.how === "broken" ? broken() : undefined);
          return;
        }
        if (byLine)
          for (const line of cutter.push(octets)) exchange.push({ octets: line, line: lineKind(line) });
        else exchange.push({ octets: octets.slice() });
        this.#changed();
        await exchange.room();
      }
      if (cutter.rest.length > 0) exchange.push({ octets: cutter.rest });
      exchange.end();
    } catch (error) {
      // What is here already still arrives; the failure comes after it.
      exchange.end(error);
    }
  }

  /** The body as the client gets it. */
  async *#body(exchange: FaultyExchange): AsyncGenerator<Uint8Array, void> {
    try {
      for (;;) {
        await this.#passable(exchange.signal);
        exchange.signal.throwIfAborted();
        const next = exchange.first;
        if (next !== undefined) yield* this.#deliver(next, exchange);
        else if (exchange.over) return;
        else await exchange.moved();
      }
    } catch (error) {
      throw exchange.signal.aborted ? exchange.signal.reason : error;
    } finally {
      this.#forget(exchange);
    }
  }

  async *#deliver({ octets, line }: Piece, exchange: FaultyExchange): AsyncGenerator<Uint8Array, void> {
    if (line === "event") return yield* this.#deliverEvent(octets, exchange);
    this.#take(exchange);
    const changed = line === "bookmark" ? changedBookmark(octets, this) : octets;
    if (changed !== undefined) yield* this.#chunked(changed);
  }

  async *#deliverEvent(line: Uint8Array, exchange: FaultyExchange): AsyncGenerator<Uint8Array, void> {
    const fault = this.#eventFaults.shift();
    exchange.remember(line);
    if (fault !== undefined) this.#observer.onEventFault?.({ fault, line, over: fault.do !== "delay" });
    if (fault?.do === "delay") {
      await this.#clock.sleep(fault.ms, exchange.signal);
      await this.#passable(exchange.signal);
      this.#observer.onEventFault?.({ fault, line, over: true });
    }
    // Not before: what is late is still held back.
    this.#take(exchange);
    if (fault?.do === "drop") return;
    if (fault?.do === "break") {
      yield line.subarray(0, line.length >> 1);
      throw broken();
    }
    if (fault?.do === "double") yield* this.#chunked(line);
    yield* this.#chunked(line);
  }

  #take(exchange: FaultyExchange): void {
    exchange.shift();
    this.#changed();
  }

  #chunked(octets: Uint8Array): Iterable<Uint8Array> {
    return this.#chunks === "whole" ? [octets] : randomChunks(octets, this.#random);
  }

  /** Resolves when the box lets something through; rejects when the signal aborts. */
  async #passable(signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      const waitMs = this.#heldUntilMs - this.#clock.monotonicMs();
      if (this.#mode !== "open") await whileWaiting(this.#connected.opened, signal);
      else if (waitMs > 0) await this.#clock.sleep(waitMs, signal);
      else return;
    }
  }

  #forget(exchange: FaultyExchange): void {
    this.#exchanges.delete(exchange);
    this.#watches.delete(exchange);
    exchange.close(new NetworkError("Closed", "the box has no use for this exchange any more"));
    this.#changed();
  }
}

function piece(text: string): Piece {
  return { octets: new TextEncoder().encode(text) };
}

function broken(): NetworkError {
  return new NetworkError("Broken", "the connection broke: something between has cut it");
}

/** An answer that does not come. */
const never = (): Promise<void> => new Promise(() => {});
