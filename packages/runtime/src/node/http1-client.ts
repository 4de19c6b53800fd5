import type { ClientRequest, IncomingMessage } from "node:http";
import { Agent as PlainAgent, request as requestPlain } from "node:http";
import { Agent as TlsAgent, request as requestTls } from "node:https";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";

import type { HttpClientOptions, HttpClientRequest, HttpClientResponse, HttpHeaders } from "../network.ts";
import { NetworkError } from "../network.ts";
import { networkFailure } from "./network-failure.ts";
import { plainOctets } from "./octets.ts";
import type { Carrier } from "./carrier.ts";
import { isRepeatable } from "./carrier.ts";
import { connectTls, connectTunnel, hostAndPort, tlsOptions } from "./tls-dialing.ts";

const connectTimeoutMs = 10_000;
/** After this silence the kernel probes, once a second; ten probes without an answer end the connection: 25 s in all. */
const keepAliveIdleMs = 15_000;

/** HTTP/1.1 to one origin, with a pool of kept connections. */
export class Http1Connections implements Carrier {
  readonly #options: HttpClientOptions;
  readonly #agent: PlainAgent | TlsAgent;
  readonly #closing = new AbortController();
  readonly #guarded = new WeakSet<Socket>();
  readonly usable: boolean = true;
  readonly hasRoom: boolean = true;
  readonly gone: boolean = false;

  /** A TLS connection on which the server chose HTTP/1.1 tells the protocol; it is closed, the pool opens its own. */
  constructor(options: HttpClientOptions, probe?: TLSSocket) {
    probe?.destroy();
    this.#options = options;
    const pooling = { keepAlive: true, keepAliveMsecs: keepAliveIdleMs, maxFreeSockets: 16 };
    this.#agent =
      probe === undefined
        ? new PlainAgent(pooling)
        : new TlsAgent({ ...pooling, ...tlsOptions(options), ALPNProtocols: ["http/1.1"] });
    if (options.proxyUrl !== undefined) this.#goThroughProxy(probe !== undefined);
  }

  async exchange(request: HttpClientRequest): Promise<HttpClientResponse | "declined"> {
    const { method, target, headers, body, signal } = request;
    signal?.throwIfAborted();
    const { hostname, port } = hostAndPort(this.#options.origin);
    const send = this.#agent instanceof TlsAgent ? requestTls : requestPlain;
    const outgoing = send({
      agent: this.#agent,
      host: hostname,
      port,
      method,
      path: target,
      headers: { ...headers, ...(body === undefined ? {} : { "content-length": body.length }) },
      ...(signal === undefined ? {} : { signal }),
    });
    const connecting = setTimeout(() => outgoing.destroy(timedOut()), connectTimeoutMs);
    outgoing.on("socket", (socket) => {
      this.#guard(socket);
      socket.setKeepAlive(true, keepAliveIdleMs);
      if (socket.connecting) socket.once("connect", () => clearTimeout(connecting));
      else clearTimeout(connecting);
    });
    outgoing.end(body);
    try {
      const incoming = await head(outgoing);
      return {
        status: incoming.statusCode ?? 0,
        headers: headersOf(incoming),
        body: {
          [Symbol.asyncIterator]: () => this.#read(incoming, signal),
          drain: (take) => this.#drain(incoming, take, signal),
        },
      };
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      // The server closed a kept connection just when we chose it: it has not seen the request.
      if (outgoing.reusedSocket && isReset(error) && isRepeatable(method)) return "declined";
      throw networkFailure(`cannot ask ${this.#options.origin} for ${method} ${target}`, error);
    } finally {
      clearTimeout(connecting);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new NetworkError("Closed", "the client was disposed; make a new one"));
    this.#agent.destroy();
  }

  /**
   * Between the end of an answer and its return to the pool a socket has nobody who listens for errors: a signal that
   * aborts just then would end the process. Whoever uses the socket hears of its errors by the request.
   */
  #guard(socket: Socket): void {
    if (this.#guarded.has(socket)) return;
    this.#guarded.add(socket);
    socket.on("error", () => {});
  }

  /** The pool stays Node's; only how a connection is made is ours. */
  #goThroughProxy(secure: boolean): void {
    const { signal } = this.#closing;
    const createConnection = (_: unknown, done: (error: unknown, socket?: Socket) => void): void => {
      const connecting: Promise<Socket> = secure
        ? connectTls(this.#options, signal, ["http/1.1"])
        : connectTunnel(this.#options, signal);
      // oxlint-disable-next-line promise/no-callback-in-promise -- the agent wants a callback
      connecting.then((socket) => done(null, socket), done);
    };
    Object.assign(this.#agent, { createConnection });
  }

  async #drain(
    incoming: IncomingMessage,
    take: (chunk: Uint8Array) => void,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    let refusal: { readonly reason: unknown } | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        incoming.once("error", reject);
        incoming.once("end", resolve);
        incoming.once("close", () => reject(new Error("the connection was closed before the end")));
        incoming.on("data", (chunk: Uint8Array) => {
          if (refusal !== undefined || signal?.aborted === true) return;
          try {
            take(plainOctets(chunk));
          } catch (reason) {
            refusal = { reason };
            incoming.destroy();
          }
        });
        if (incoming.destroyed && !incoming.readableEnded) reject(new Error("the connection is closed"));
      });
      if (refusal !== undefined || signal?.aborted === true) throw new Error("the reader has left");
    } catch (error) {
      if (refusal !== undefined) throw refusal.reason;
      if (signal?.aborted === true) throw signal.reason;
      throw networkFailure(`cannot read the answer of ${this.#options.origin}`, error);
    }
  }

  async *#read(
    incoming: IncomingMessage,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for await (const chunk of incoming as AsyncIterable<Uint8Array>) yield plainOctets(chunk);
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      throw networkFailure(`cannot read the answer of ${this.#options.origin}`, error);
    }
  }
}

function head(outgoing: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once("response", resolve);
    outgoing.on("error", reject);
    // After `101 Switching Protocols`, which nobody asked for, Node closes without an error.
    outgoing.once("close", () => reject(new Error("the server closed it without an answer")));
  });
}

function headersOf(incoming: IncomingMessage): HttpHeaders {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return headers;
}

function isReset(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE");
}

function timedOut(): Error {
  return Object.assign(new Error(`no connection within ${connectTimeoutMs} ms`), { code: "ETIMEDOUT" });
}
