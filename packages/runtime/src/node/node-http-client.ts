import type { HttpClient, HttpClientOptions, HttpClientRequest, HttpClientResponse } from "../network.ts";
import { NetworkError } from "../network.ts";
import type { Carrier } from "./carrier.ts";
import { Http1Connections } from "./http1-client.ts";
import { Http2Connection } from "./http2-client.ts";
import { networkFailure } from "./network-failure.ts";
import type { PingTimes } from "./session-ping.ts";
import { defaultPingTimes } from "./session-ping.ts";
import { connectTls } from "./tls-dialing.ts";

/** A request that the server did not look at is sent again on another connection, so often in all. */
const triesMax = 3;

/** A client of one origin: HTTP/2 over TLS where the server offers it, else HTTP/1.1 with keep-alive. */
export class NodeHttpClient implements HttpClient {
  readonly #options: HttpClientOptions;
  readonly #origin: URL;
  readonly #pingTimes: PingTimes;
  #carrier: Promise<Carrier> | undefined;
  readonly #open = new Set<Carrier>();
  readonly #closing = new AbortController();

  constructor(options: HttpClientOptions, pingTimes: PingTimes = defaultPingTimes) {
    this.#options = options;
    this.#origin = new URL(options.origin);
    this.#pingTimes = pingTimes;
  }

  async request(request: HttpClientRequest): Promise<HttpClientResponse> {
    const { signal } = request;
    for (let tries = 1; ; tries++) {
      signal?.throwIfAborted();
      if (this.#closing.signal.aborted) throw this.#closing.signal.reason;
      const carrier = await withSignal(this.#findCarrier(), signal);
      const response = await carrier.exchange(request);
      if (response !== "declined") return response;
      if (tries === triesMax) {
        throw new NetworkError(
          "Closed",
          `${this.#options.origin} declines all requests; it may be closing, try later`,
        );
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(
      new NetworkError(
        "Closed",
        `cannot ask ${this.#options.origin}: this client was disposed; make a new one`,
      ),
    );
    await this.#carrier?.catch(() => {});
    await Promise.all([...this.#open].map((carrier) => carrier.close()));
  }

  /** The connection in use, or a new one; requests that come while it opens share it. */
  async #findCarrier(): Promise<Carrier> {
    for (;;) {
      const current = this.#carrier;
      if (current === undefined) break;
      const carrier = await current.catch(() => undefined);
      if (carrier?.usable === true) return carrier;
      if (this.#carrier === current) break;
    }
    const opening = this.#openCarrier();
    this.#carrier = opening;
    return opening;
  }

  async #openCarrier(): Promise<Carrier> {
    const carrier = await this.#connect();
    for (const old of this.#open) if (!old.usable) this.#open.delete(old);
    this.#open.add(carrier);
    if (this.#closing.signal.aborted) {
      await carrier.close();
      throw this.#closing.signal.reason;
    }
    return carrier;
  }

  async #connect(): Promise<Carrier> {
    if (this.#origin.protocol === "http:") return new Http1Connections(this.#options);
    try {
      const socket = await connectTls(this.#options, this.#closing.signal);
      if (socket.alpnProtocol === "h2") {
        return new Http2Connection(socket, { origin: this.#origin.origin, pingTimes: this.#pingTimes });
      }
      return new Http1Connections(this.#options, socket);
    } catch (error) {
      throw networkFailure(`cannot connect to ${this.#options.origin}`, error);
    }
  }
}

/** The promise's outcome, or the signal's reason if that comes first. */
function withSignal<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
