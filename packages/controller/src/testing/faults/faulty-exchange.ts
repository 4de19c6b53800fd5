import type { LineKind } from "./watch-line.ts";

/** Octets on their way. */
export interface Piece {
  readonly octets: Uint8Array;
  /** What it is where it is a whole line of a watch: on such ones faults may fall. */
  readonly line?: LineKind;
}

/** Octets that wait between server and client at most; then the server has to wait, as TCP would have it. */
const heldBytesMax = 1024 * 1024;

/** Lines of the past that are kept at least: enough to repeat one. A long run must not keep everything that was ever said. */
const pastMax = 100;

/** One request that is under way, with what has come of its answer and has not been let through. */
export class FaultyExchange {
  /** Aborts when the exchange broke, or when the caller's signal does. */
  readonly signal: AbortSignal;
  /** What came through on watches of the same objects, the oldest first. */
  readonly past: Uint8Array[];
  readonly #own = new AbortController();
  readonly #callers: AbortSignal | undefined;
  readonly #onAbort: () => void;
  readonly #pieces: Piece[] = [];
  #bytes = 0;
  #end: { readonly error?: unknown } | undefined;
  #wake: (() => void)[] = [];

  constructor(callers: AbortSignal | undefined, past: Uint8Array[]) {
    this.past = past;
    this.#callers = callers;
    this.signal = this.#own.signal;
    this.#onAbort = () => this.fail(callers?.reason);
    callers?.addEventListener("abort", this.#onAbort, { once: true });
    if (callers?.aborted === true) this.#onAbort();
  }

  /** What is to be let through next. */
  get first(): Piece | undefined {
    return this.#pieces[0];
  }

  /** Events that wait here. */
  get waitingEvents(): number {
    return this.#pieces.filter(({ line }) => line === "event").length;
  }

  push(piece: Piece): void {
    if (this.#end !== undefined) return;
    this.#pieces.push(piece);
    this.#bytes += piece.octets.length;
    this.#move();
  }

  /** Takes the first piece away. */
  shift(): void {
    this.#bytes -= this.#pieces.shift()?.octets.length ?? 0;
    this.#move();
  }

  /** Adds a line to the past. */
  remember(line: Uint8Array): void {
    this.past.push(line);
    if (this.past.length > 2 * pastMax) this.past.splice(0, pastMax);
  }

  /** Nothing comes any more; what is here is still delivered, and then the error, if there is one. */
  end(error?: unknown): void {
    this.#end ??= error === undefined ? {} : { error };
    this.#move();
  }

  /** True when the answer is over and nothing of it is left. @throws what ended it, if that was a failure */
  get over(): boolean {
    if (this.#pieces.length > 0 || this.#end === undefined) return false;
    if ("error" in this.#end) throw this.#end.error;
    return true;
  }

  /** Breaks the exchange at once. */
  fail(error: unknown): void {
    this.#own.abort(error);
    this.#move();
  }

  /** Resolves when something came, went or ended. */
  moved(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve));
  }

  /** Resolves when there is room for more. */
  async room(): Promise<void> {
    while (this.#bytes > heldBytesMax && !this.signal.aborted) await this.moved();
  }

  /** The reader has left: nothing is received any more. */
  close(reason: unknown): void {
    this.#callers?.removeEventListener("abort", this.#onAbort);
    this.fail(reason);
  }

  #move(): void {
    const waiting = this.#wake;
    this.#wake = [];
    for (const wake of waiting) wake();
  }
}
