import { NetworkError, whileWaiting } from "@meridian/runtime";
import type { Clock, HttpClient, HttpClientRequest, HttpClientResponse } from "@meridian/runtime";
import type { ArmedFault } from "../lab-state.ts";
import { LineCutter, parseEventLine } from "./event-line.ts";
import type { EventLine } from "./event-line.ts";

/** What the wire did to an event. */
export interface WireIncident {
  readonly what: "lost" | "lostSilently" | "doubled" | "delayed" | "delivered";
  readonly event: EventLine;
  readonly ms: number;
}

/** What a wire tells whoever watches it. */
export interface WireListener {
  /** The mode, an armed fault, the events held back, or what is under way is another. */
  readonly onChange: () => void;
  readonly onIncident: (incident: WireIncident) => void;
}

/** Octets that wait in the wire at most; then the server has to wait, as TCP would have it. */
const heldBytesMax = 1024 * 1024;

/**
 * An HTTP client between an informer and its server, on which one can do what networks do. Neither end knows of it.
 *
 * ```text
 * open     everything comes through
 * cut      exchanges under way break; new ones wait, as a dial does that nobody answers, until the wire is connected
 * silent   exchanges stay as they are and nothing comes through them; when the wire is connected, all of it comes
 * ```
 *
 * A fault that is armed befalls the next event of a watch, and no other.
 */
export class FaultyWire implements HttpClient {
  readonly #inner: HttpClient;
  readonly #clock: Pick<Clock, "sleep" | "monotonicMs">;
  readonly #listener: WireListener;
  readonly #exchanges = new Set<OpenExchange>();
  #mode: "open" | "cut" | "silent" = "open";
  #armed: ArmedFault | undefined;
  #watchOpenedAtMs = Number.NEGATIVE_INFINITY;
  /** Resolves when the wire is connected. */
  #connected = gate();

  constructor(
    inner: HttpClient,
    options: { readonly clock: Pick<Clock, "sleep" | "monotonicMs">; readonly listener: WireListener },
  ) {
    this.#inner = inner;
    this.#clock = options.clock;
    this.#listener = options.listener;
    this.#connected.open();
  }

  get mode(): "open" | "cut" | "silent" {
    return this.#mode;
  }

  get armed(): ArmedFault | undefined {
    return this.#armed;
  }

  /** When the newest watch was answered, by the clock's `monotonicMs`. */
  get watchOpenedAtMs(): number {
    return this.#watchOpenedAtMs;
  }

  /** Events that came from the server and have not been let through. */
  get heldBack(): number {
    let held = 0;
    for (const exchange of this.#exchanges) held += exchange.heldEvents;
    return held;
  }

  cut(): void {
    this.#leaveOpen("cut");
    for (const exchange of [...this.#exchanges]) exchange.fail(broken());
  }

  silence(): void {
    this.#leaveOpen("silent");
  }

  connect(): void {
    this.#mode = "open";
    this.#connected.open();
    this.#listener.onChange();
  }

  /** The next event of a watch meets this fault; one that is armed already is replaced. */
  arm(fault: ArmedFault): void {
    this.#armed = fault;
    this.#listener.onChange();
  }

  async request(request: HttpClientRequest): Promise<HttpClientResponse> {
    await this.#passable(request.signal);
    const exchange = new OpenExchange(request.signal);
    this.#exchanges.add(exchange);
    try {
      const response = await this.#inner.request({ ...request, signal: exchange.signal });
      const isWatch = /[?&]watch=(?:1|true)\b/.test(request.target);
      if (isWatch) this.#watchOpenedAtMs = this.#clock.monotonicMs();
      this.#listener.onChange();
      return { ...response, body: this.#through(response, exchange, isWatch) };
    } catch (error) {
      this.#exchanges.delete(exchange);
      throw exchange.failure ?? error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const exchange of [...this.#exchanges]) exchange.fail(broken());
    await this.#inner[Symbol.asyncDispose]();
  }

  #leaveOpen(mode: "cut" | "silent"): void {
    if (this.#mode === "open") this.#connected = gate();
    this.#mode = mode;
    this.#listener.onChange();
  }

  /** Resolves when the wire is open; rejects when the signal aborts. */
  async #passable(signal: AbortSignal | undefined): Promise<void> {
    while (this.#mode !== "open") await whileWaiting(this.#connected.opened, signal);
  }

  /** The body as the informer gets it. */
  async *#through(
    response: HttpClientResponse,
    exchange: OpenExchange,
    isWatch: boolean,
  ): AsyncGenerator<Uint8Array, void> {
    void this.#receive(response, exchange, isWatch);
    try {
      for (;;) {
        await this.#passable(exchange.signal);
        exchange.throwIfFailed();
        const piece = exchange.shift();
        if (piece === undefined) {
          if (exchange.ended) return;
          await exchange.moved();
        } else {
          yield* this.#deliver(piece, exchange);
          this.#listener.onChange();
        }
      }
    } catch (error) {
      throw exchange.failure ?? error;
    } finally {
      this.#exchanges.delete(exchange);
      exchange.close();
      this.#listener.onChange();
    }
  }

  /** Takes what the server sends, piece by piece: a watch by lines, everything else as it comes. */
  async #receive(response: HttpClientResponse, exchange: OpenExchange, isWatch: boolean): Promise<void> {
    const cutter = new LineCutter();
    try {
      for await (const octets of response.body) {
        const pieces = isWatch ? cutter.push(octets) : [octets.slice()];
        for (const piece of pieces)
          exchange.push({ octets: piece, event: isWatch ? parseEventLine(piece) : undefined });
        if (this.#mode !== "open") this.#listener.onChange();
        await exchange.room();
      }
      if (cutter.rest.length > 0) exchange.push({ octets: cutter.rest, event: undefined });
      exchange.end();
    } catch (error) {
      // What is in the wire already still arrives; the failure comes after it.
      exchange.end(error);
    }
  }

  async *#deliver(piece: Piece, exchange: OpenExchange): AsyncGenerator<Uint8Array, void> {
    const { octets, event } = piece;
    const fault = this.#armed;
    if (event === undefined || fault === undefined) {
      yield octets;
      return;
    }
    this.#armed = undefined;
    const { ms } = fault;
    switch (fault.fault) {
      case "loseSilently":
        this.#listener.onIncident({ what: "lostSilently", event, ms });
        return;
      case "lose":
        this.#listener.onIncident({ what: "lost", event, ms });
        yield octets.subarray(0, octets.length >> 1);
        throw exchange.fail(broken());
      case "double":
        this.#listener.onIncident({ what: "doubled", event, ms });
        yield octets;
        yield octets;
        return;
      case "delay":
        exchange.delayedEvents = 1;
        this.#listener.onIncident({ what: "delayed", event, ms });
        try {
          await this.#clock.sleep(ms, exchange.signal);
          await this.#passable(exchange.signal);
        } finally {
          exchange.delayedEvents = 0;
        }
        this.#listener.onIncident({ what: "delivered", event, ms });
        yield octets;
    }
  }
}

/** Octets on their way, and what they tell. */
interface Piece {
  readonly octets: Uint8Array;
  readonly event: EventLine | undefined;
}

/** One request that is under way, with what has come of its answer and has not been let through. */
class OpenExchange {
  /** Aborts when the exchange broke, or when the caller's signal does. */
  readonly signal: AbortSignal;
  delayedEvents = 0;
  readonly #own = new AbortController();
  readonly #callers: AbortSignal | undefined;
  readonly #onAbort: () => void;
  #pieces: Piece[] = [];
  #bytes = 0;
  #ended = false;
  #endedBy: unknown;
  #moved = gate();

  constructor(callers: AbortSignal | undefined) {
    this.#callers = callers;
    this.signal = this.#own.signal;
    this.#onAbort = () => this.#abort(callers?.reason);
    callers?.addEventListener("abort", this.#onAbort, { once: true });
    if (callers?.aborted === true) this.#onAbort();
  }

  get failure(): unknown {
    return this.signal.aborted ? this.signal.reason : undefined;
  }

  /** True when the server's answer is over and nothing of it is left here. @throws what ended it, if that was a failure. */
  get ended(): boolean {
    if (!this.#ended) return false;
    if (this.#endedBy !== undefined) throw this.#endedBy;
    return true;
  }

  get heldEvents(): number {
    return this.delayedEvents + this.#pieces.filter(({ event }) => event !== undefined).length;
  }

  push(piece: Piece): void {
    this.#pieces.push(piece);
    this.#bytes += piece.octets.length;
    this.#move();
  }

  shift(): Piece | undefined {
    const piece = this.#pieces.shift();
    if (piece !== undefined) this.#bytes -= piece.octets.length;
    this.#move();
    return piece;
  }

  end(error?: unknown): void {
    this.#ended = true;
    this.#endedBy = error;
    this.#move();
  }

  /** Breaks the exchange; returns the error for a `throw`. */
  fail(error: Error): Error {
    this.#abort(error);
    return error;
  }

  throwIfFailed(): void {
    this.signal.throwIfAborted();
  }

  /** Resolves when something came, went or ended. */
  moved(): Promise<void> {
    return this.#moved.opened;
  }

  /** Resolves when there is room for more. */
  async room(): Promise<void> {
    while (this.#bytes > heldBytesMax && !this.signal.aborted) await this.moved();
  }

  /** The reader has left: nothing is received any more. */
  close(): void {
    this.#callers?.removeEventListener("abort", this.#onAbort);
    if (!this.#ended) this.#abort(broken());
  }

  #abort(reason: unknown): void {
    this.#own.abort(reason);
    this.#move();
  }

  #move(): void {
    const { open } = this.#moved;
    this.#moved = gate();
    open();
  }
}

interface Gate {
  readonly opened: Promise<void>;
  readonly open: () => void;
}

function gate(): Gate {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

function broken(): NetworkError {
  return new NetworkError("Broken", "the connection broke: the wire was cut");
}
