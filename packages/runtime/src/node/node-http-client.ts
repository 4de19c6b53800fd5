import type { HttpClient, HttpClientOptions, HttpClientRequest, HttpClientResponse } from "../network.ts";
import { NetworkError } from "../network.ts";
import { whileWaiting } from "../while-waiting.ts";
import type { Carrier } from "./carrier.ts";
import { gunzipped } from "./gunzipped-body.ts";
import { Http1Connections } from "./http1-client.ts";
import { Http2Connection } from "./http2-client.ts";
import { networkFailure } from "./network-failure.ts";
import type { PingTimes } from "./session-ping.ts";
import { defaultPingTimes } from "./session-ping.ts";
import { connectTls } from "./tls-dialing.ts";

/** A request that the server did not look at is sent again on another connection, so often in all. */
const triesMax = 3;
/** HTTP/2 connections to one origin; with more streams than they carry, the rest waits its turn. */
const connectionsMax = 16;

/**
 * A client of one origin: HTTP/2 over TLS where the server offers it, else HTTP/1.1 with keep-alive. There is one HTTP/2
 * connection as long as the server lets all requests and streams on it, and then another.
 */
export class NodeHttpClient implements HttpClient {
  readonly #options: HttpClientOptions;
  readonly #origin: URL;
  readonly #pingTimes: PingTimes;
  readonly #carriers = new Set<Carrier>();
  #opening: Promise<void> | undefined;
  readonly #closing = new AbortController();

  constructor(options: HttpClientOptions, pingTimes: PingTimes = defaultPingTimes) {
    this.#options = options;
    this.#origin = new URL(options.origin);
    this.#pingTimes = pingTimes;
  }

  async request(request: HttpClientRequest): Promise<HttpClientResponse> {
    if (request.compressed !== true) return this.#exchange(request);
    const headers = { ...request.headers, "accept-encoding": "gzip" };
    const response = await this.#exchange({ ...request, headers });
    return gunzipped(response, `cannot read the answer of ${this.#options.origin}`);
  }

  async #exchange(request: HttpClientRequest): Promise<HttpClientResponse> {
    const { signal } = request;
    for (let tries = 1; ; tries++) {
      let carrier = this.#ready(signal);
      while (carrier === undefined) {
        await whileWaiting(this.#open(), signal);
        carrier = this.#ready(signal);
      }
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
    await this.#opening?.catch(() => {});
    await Promise.all([...this.#carriers].map((carrier) => carrier.close()));
  }

  /** A connection that takes a request now. To be used at once, since others ask for it, too. */
  #ready(signal: AbortSignal | undefined): Carrier | undefined {
    signal?.throwIfAborted();
    this.#closing.signal.throwIfAborted();
    let full: Carrier | undefined;
    for (const carrier of this.#carriers) {
      if (carrier.gone) this.#carriers.delete(carrier);
      else if (carrier.usable && carrier.hasRoom) return carrier;
      else if (carrier.usable) full = carrier;
    }
    return this.#carriers.size < connectionsMax ? undefined : full;
  }

  /** Opens a connection; requests that come meanwhile wait for the same one. */
  #open(): Promise<void> {
    this.#opening ??= this.#connect()
      .then(async (carrier) => {
        this.#carriers.add(carrier);
        if (!this.#closing.signal.aborted) return;
        await carrier.close();
        throw this.#closing.signal.reason;
      })
      .finally(() => {
        this.#opening = undefined;
      });
    return this.#opening;
  }

  /** Many requests may wait for this connection: none is sent before it is known how many it takes. */
  async #settled(connection: Http2Connection): Promise<Http2Connection> {
    const onClosing = (): void => void connection.close();
    this.#closing.signal.addEventListener("abort", onClosing, { once: true });
    try {
      await connection.settled;
    } finally {
      this.#closing.signal.removeEventListener("abort", onClosing);
    }
    return connection;
  }

  async #connect(): Promise<Carrier> {
    if (this.#origin.protocol === "http:") return new Http1Connections(this.#options);
    try {
      const socket = await connectTls(this.#options, this.#closing.signal);
      if (socket.alpnProtocol === "h2") {
        const { origin } = this.#origin;
        return await this.#settled(new Http2Connection(socket, { origin, pingTimes: this.#pingTimes }));
      }
      return new Http1Connections(this.#options, socket);
    } catch (error) {
      throw networkFailure(`cannot connect to ${this.#options.origin}`, error);
    }
  }
}
