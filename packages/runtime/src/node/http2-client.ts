import type {
  ClientHttp2Session,
  ClientHttp2Stream,
  IncomingHttpHeaders,
  IncomingHttpStatusHeader,
} from "node:http2";
import { connect, constants } from "node:http2";
import type { TLSSocket } from "node:tls";

import type { HttpClientRequest, HttpClientResponse, HttpHeaders } from "../network.ts";
import { NetworkError } from "../network.ts";
import { networkFailure } from "./network-failure.ts";
import { plainOctets } from "./octets.ts";
import type { Carrier } from "./carrier.ts";
import { isRepeatable } from "./carrier.ts";
import type { PingTimes } from "./session-ping.ts";
import { watchSession } from "./session-ping.ts";

/** What one stream and all streams together may receive ahead of their readers. */
const streamWindowBytes = 1024 * 1024;
const sessionWindowBytes = 16 * 1024 * 1024;
/** What all streams together may hold in memory. Past it Node refuses answers that the server has given. */
const sessionMemoryMegabytes = 128;

/** Headers that belong to HTTP/1.1 connections and are errors in HTTP/2 (RFC 9113 §8.2.2). */
const connectionHeaders: ReadonlySet<string> = new Set([
  "connection",
  "host",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
]);

/** One HTTP/2 connection. */
export class Http2Connection implements Carrier {
  /**
   * Resolves when the server has said how much it takes, which is the first thing it says (RFC 9113 §3.4); rejects where the
   * connection ends before that. Who sends before it may send more than the server takes.
   */
  readonly settled: Promise<void>;
  readonly #session: ClientHttp2Session;
  readonly #origin: string;
  readonly #heard: () => void;
  /** Those whose answers are still to be read. */
  readonly #reading = new Set<ClientHttp2Stream>();
  #failure: unknown;
  #draining = false;
  #answered = false;

  constructor(socket: TLSSocket, options: { origin: string; pingTimes: PingTimes }) {
    this.#origin = options.origin;
    this.#session = connect(options.origin, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: streamWindowBytes },
      maxSessionMemory: sessionMemoryMegabytes,
    });
    this.#heard = watchSession(this.#session, options.pingTimes);
    this.#session.once("connect", () => this.#session.setLocalWindowSize(sessionWindowBytes));
    this.#session.on("goaway", () => {
      this.#draining = true;
    });
    this.#session.on("error", (error) => {
      this.#failure ??= error;
    });
    this.settled = new Promise((resolve, reject) => {
      this.#session.once("remoteSettings", () => resolve());
      this.#session.once("close", () => reject(this.#broken(`cannot connect to ${this.#origin}`, undefined)));
    });
    this.settled.catch(() => {}); // for whoever waits
  }

  get usable(): boolean {
    return !this.#draining && !this.#session.closed && !this.#session.destroyed;
  }

  /** Whether the server takes one more stream at once (RFC 9113 §6.5.2). */
  get hasRoom(): boolean {
    const { maxConcurrentStreams } = this.#session.remoteSettings;
    return maxConcurrentStreams === undefined || this.#reading.size < maxConcurrentStreams;
  }

  get gone(): boolean {
    return this.#session.destroyed;
  }

  async exchange(request: HttpClientRequest): Promise<HttpClientResponse | "declined"> {
    const { signal } = request;
    signal?.throwIfAborted();
    if (!this.usable) return "declined";
    const stream = this.#open(request);
    const onAbort = (): void => cancel(stream);
    signal?.addEventListener("abort", onAbort, { once: true });
    stream.once("close", () => signal?.removeEventListener("abort", onAbort));
    if (request.body === undefined) stream.end();
    else stream.end(request.body);
    const headers = await this.#head(stream, request);
    if (headers === "declined") return "declined";
    this.#answered = true;
    // Node (20) never lets go of what a server did not want to read, however the stream ends.
    if (!stream.writableFinished && request.body !== undefined) this.#retire();
    this.#heard();
    return {
      status: headers[":status"] ?? 0,
      headers: headersOf(headers),
      body: {
        [Symbol.asyncIterator]: () => this.#read(stream, signal),
        drain: (take) => this.#drain(stream, take, signal),
      },
    };
  }

  async close(): Promise<void> {
    if (this.#session.destroyed) return;
    this.#failure ??= new NetworkError(
      "Closed",
      `the client of ${this.#origin} was disposed; make a new one`,
    );
    const closed = new Promise<void>((resolve) => this.#session.once("close", () => resolve()));
    this.#session.destroy(this.#failure as Error, constants.NGHTTP2_NO_ERROR);
    await closed;
  }

  #open({ method, target, headers, body }: HttpClientRequest): ClientHttp2Stream {
    const fields: Record<string, string | string[]> = {};
    for (const [name, value] of Object.entries(headers ?? {})) {
      const lower = name.toLowerCase();
      if (!connectionHeaders.has(lower)) fields[lower] = typeof value === "string" ? value : [...value];
    }
    if (body !== undefined) fields["content-length"] = String(body.length);
    const stream = this.#session.request(
      { ...fields, ":method": method, ":path": target },
      { endStream: body === undefined },
    );
    this.#reading.add(stream);
    stream.once("close", () => this.#done(stream));
    return stream;
  }

  /** Takes no more requests, and ends once the answers of those that it took are read. */
  #retire(): void {
    this.#draining = true;
    if (this.#reading.size === 0) this.#session.destroy();
  }

  #done(stream: ClientHttp2Stream): void {
    this.#reading.delete(stream);
    if (this.#draining) this.#retire();
  }

  #head(stream: ClientHttp2Stream, request: HttpClientRequest): Promise<HeadFields | "declined"> {
    const { method, target, signal } = request;
    const answeredBefore = this.#answered;
    return new Promise((resolve, reject) => {
      let failure: unknown;
      let answered = false;
      stream.once("response", (fields) => {
        answered = true;
        resolve(fields);
      });
      stream.on("error", (error) => {
        failure = error;
      });
      stream.once("close", () => {
        // One side holds more for this connection than it likes to.
        if (stream.rstCode === constants.NGHTTP2_ENHANCE_YOUR_CALM) this.#retire();
        if (answered) return; // what ended it is told to the reader
        if (signal?.aborted === true) return reject(signal.reason);
        // RFC 9113 §8.7: a refused stream was not processed, whatever its method.
        if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) return resolve("declined");
        const error = this.#broken(`cannot ask ${this.#origin} for ${method} ${target}`, failure);
        // A kept connection that breaks under the next request was closed before it came.
        const stale = answeredBefore && error.code === "Broken" && this.#session.destroyed;
        if (stale && isRepeatable(method)) resolve("declined");
        else reject(error);
      });
    });
  }

  async *#read(
    stream: ClientHttp2Stream,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    let failure: unknown;
    let whole = false;
    try {
      for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
        if (signal?.aborted === true) break;
        this.#heard();
        yield plainOctets(chunk);
      }
      whole = true;
    } catch (error) {
      failure = error;
    } finally {
      if (!whole)
        cancel(stream); // the reader has stopped early, or cannot go on
      else this.#done(stream);
    }
    this.#checkWhole(stream, failure, signal);
  }

  async #drain(
    stream: ClientHttp2Stream,
    take: (chunk: Uint8Array) => void,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    let failure: unknown;
    let refusal: { readonly reason: unknown } | undefined;
    await new Promise<void>((resolve) => {
      const onClose = (): void => {
        if (!stream.readableEnded) failure ??= new Error("the stream was closed before its end");
        resolve();
      };
      if (stream.destroyed) return onClose();
      stream.once("error", (error) => (failure = error));
      stream.once("end", resolve);
      stream.once("close", onClose);
      stream.on("data", (chunk: Uint8Array) => {
        if (refusal !== undefined || signal?.aborted === true) return;
        this.#heard();
        try {
          take(plainOctets(chunk));
        } catch (reason) {
          refusal = { reason };
          cancel(stream);
        }
      });
    });
    this.#done(stream);
    if (refusal !== undefined) throw refusal.reason;
    this.#checkWhole(stream, failure, signal);
  }

  #checkWhole(stream: ClientHttp2Stream, failure: unknown, signal: AbortSignal | undefined): void {
    if (signal?.aborted === true) throw signal.reason;
    // Node ends the body of a cancelled stream as if it were whole.
    if (failure !== undefined || stream.aborted || stream.rstCode !== constants.NGHTTP2_NO_ERROR) {
      throw this.#broken(`cannot read the answer of ${this.#origin}`, failure);
    }
  }

  #broken(attempt: string, failure: unknown): NetworkError {
    return networkFailure(
      attempt,
      this.#failure ?? failure ?? new Error("the server broke the exchange off"),
    );
  }
}

/**
 * Tells the server that the rest is not wanted. In a later turn: a cancellation from within the delivery of this
 * connection's own data stays unsent until more data comes (Node 20).
 */
function cancel(stream: ClientHttp2Stream): void {
  setImmediate(() => {
    if (stream.destroyed) return;
    stream.close(constants.NGHTTP2_CANCEL);
    stream.destroy();
  });
}

type HeadFields = IncomingHttpHeaders & IncomingHttpStatusHeader;

function headersOf(fields: HeadFields): HttpHeaders {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || name.startsWith(":")) continue;
    headers[name] = Array.isArray(value) ? value.join(", ") : String(value);
  }
  return headers;
}
