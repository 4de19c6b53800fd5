import type { HttpClientResponse } from "../network.ts";
import { NetworkError } from "../network.ts";
import type { Boot } from "./boot.ts";
import type { StreamFrame } from "./http-frames.ts";
import { streamWindowBytes } from "./http-frames.ts";

interface StreamOptions {
  readonly signal: AbortSignal | undefined;
  /** Tells the server that the stream is no longer wanted. */
  readonly cancel: () => void;
  /** Tells the server how many octets were read. */
  readonly credit: (bytes: number) => void;
}

/** One exchange at the client: first the answer's head, then its body as it arrives. */
export class ClientStream {
  readonly response: Promise<HttpClientResponse | "declined">;
  readonly #options: StreamOptions;
  readonly #chunks: Uint8Array[] = [];
  readonly #stopListening: () => void;
  #settle: { resolve: (value: HttpClientResponse | "declined") => void; reject: (reason: unknown) => void };
  #ended = false;
  #failure: { readonly reason: unknown } | undefined;
  #unreadBytes = 0;
  #wake: () => void = () => {};

  constructor(boot: Boot, options: StreamOptions) {
    this.#options = options;
    this.#settle = { resolve() {}, reject() {} };
    this.response = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    const { signal } = options;
    const onAbort = (): void => {
      options.cancel();
      this.fail(signal?.reason);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    const stop = (): void => signal?.removeEventListener("abort", onAbort);
    const forget = boot.onEnd(stop);
    this.#stopListening = () => {
      stop();
      forget();
    };
  }

  /** No frame is expected any more. */
  get ended(): boolean {
    return this.#ended;
  }

  receive(frame: StreamFrame): void {
    switch (frame.kind) {
      case "head": {
        const body: AsyncIterable<Uint8Array> = { [Symbol.asyncIterator]: () => this.#read() };
        this.#settle.resolve({ status: frame.status, headers: frame.headers, body });
        return;
      }
      case "chunk":
        this.#chunks.push(frame.octets);
        return this.#wake();
      case "end":
        this.#end();
        return this.#wake();
      case "declined":
        this.#end();
        return this.#settle.resolve("declined");
      case "failed":
        return this.fail(
          new NetworkError("Broken", "the server broke the answer off before its end; ask again"),
        );
    }
  }

  /** Ends the exchange: the call, or the body's reader, rejects with `reason`. */
  fail(reason: unknown): void {
    if (this.#ended) return;
    this.#end();
    this.#failure = { reason };
    this.#settle.reject(reason);
    this.#wake();
  }

  async *#read(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (;;) {
        if (this.#failure !== undefined) throw this.#failure.reason;
        const chunk = this.#chunks.shift();
        if (chunk !== undefined) {
          this.#countRead(chunk.length);
          yield chunk;
        } else if (this.#ended) {
          return;
        } else {
          await new Promise<void>((resolve) => (this.#wake = resolve));
        }
      }
    } finally {
      // The reader stopped early: the rest is not wanted.
      if (!this.#ended) {
        this.#end();
        this.#options.cancel();
      }
    }
  }

  #countRead(bytes: number): void {
    this.#unreadBytes += bytes;
    if (this.#ended || this.#unreadBytes < streamWindowBytes / 2) return;
    this.#options.credit(this.#unreadBytes);
    this.#unreadBytes = 0;
  }

  #end(): void {
    this.#ended = true;
    this.#stopListening();
  }
}
