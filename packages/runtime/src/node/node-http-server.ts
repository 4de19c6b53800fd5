import { createServer, type ServerOptions } from "node:http";
import type { ServerHttp2Session } from "node:http2";
import { createSecureServer } from "node:http2";
import type { Server, Socket } from "node:net";
import { type SecureContextOptions, Server as TlsServer, TLSSocket } from "node:tls";

import type { Logger } from "../logger.ts";
import type { HttpRequest, HttpServer, HttpServerOptions, TlsServerIdentity } from "../network.ts";
import { NetworkError } from "../network.ts";
import { clientCertificateOf } from "./client-certificate.ts";
import type { NodeResponse } from "./http-exchange.ts";
import { HttpConnections } from "./http-connections.ts";
import { HttpExchange } from "./http-exchange.ts";
import { listenOn } from "./listening.ts";
import { networkFailure } from "./network-failure.ts";
import type { NodeRequest } from "./request-body.ts";
import { watchSession } from "./session-ping.ts";

/** How long open exchanges may go on after the server began to close. */
const closeGraceMs = 2_000;
const connectionsMax = 4_096;
const streamsMax = 1_000;
/** Kept longer than clients keep idle connections, so that they rarely meet one that is just being closed. */
const keepAliveTimeoutMs = 120_000;
const headerBytesMax = 32 * 1024;
/** To send a request, not to be answered. */
const requestMs = 120_000;

/** Limits against hostile peers; long exchanges are none of these. */
const http1Limits = {
  maxHeaderSize: headerBytesMax,
  headersTimeout: 20_000,
  connectionsCheckingInterval: 5_000,
  keepAlive: true,
  keepAliveInitialDelay: 30_000,
  noDelay: true,
} as const;

const http2Limits = {
  maxHeaderListPairs: 200,
  maxSessionMemory: 64, // megabytes
  unknownProtocolTimeout: 10_000,
} as const;

/** Serves HTTP/1.1 in the clear, or HTTP/2 and HTTP/1.1 over TLS. */
export async function serveNodeHttp(options: HttpServerOptions, log: Logger): Promise<HttpServer> {
  const door = new HttpDoor(options, log);
  const local = await listenOn(door.server, options, { attempt: "serve HTTP", log });
  let closing: Promise<void> | undefined;
  return {
    local,
    setTls: (tls) => door.setTls(tls),
    [Symbol.asyncDispose]: () => (closing ??= door.close()),
  };
}

/** A server with its connections and open exchanges. */
class HttpDoor {
  readonly server: Server;
  readonly #options: HttpServerOptions;
  readonly #log: Logger;
  readonly #connections: HttpConnections;
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #exchanges = new Set<HttpExchange>();
  /** By the connection, which is a session or a socket. */
  readonly #certificates = new WeakMap<object, { readonly found: HttpRequest["clientCertificate"] }>();
  #closing = false;

  constructor(options: HttpServerOptions, log: Logger) {
    this.#options = options;
    this.#log = log;
    this.server = options.tls === undefined ? this.#createPlain() : this.#createSecure(options.tls);
    this.#connections = new HttpConnections(options.connectionsMax ?? connectionsMax);
    this.server.on("connection", (socket: Socket) => {
      this.#connections.add(socket);
      socket.setKeepAlive(true, http1Limits.keepAliveInitialDelay);
      socket.setNoDelay(true);
    });
  }

  /** Stops accepting, asks the open exchanges to end, gives them a moment, and breaks what is left. */
  async close(): Promise<void> {
    this.#closing = true;
    const stopped = new Promise<void>((resolve) => this.server.close(() => resolve()));
    for (const exchange of this.#exchanges) exchange.abort(closingError());
    for (const session of this.#sessions) session.close(); // says GOAWAY and waits for its streams
    const grace = setTimeout(() => {
      for (const session of this.#sessions) session.destroy();
      this.#connections.destroyAll();
    }, closeGraceMs);
    // A kept HTTP/1.1 connection that falls idle now would hold the server until it times out.
    const sweep = setInterval(() => this.#closeIdle(), 20);
    await stopped;
    clearTimeout(grace);
    clearInterval(sweep);
  }

  setTls(tls: TlsServerIdentity): void {
    if (!(this.server instanceof TlsServer)) return;
    try {
      this.server.setSecureContext(secureContextOf(tls));
    } catch (error) {
      throw networkFailure("cannot use the certificate and key given", error);
    }
  }

  get #http1Limits(): ServerOptions {
    return {
      ...http1Limits,
      requestTimeout: this.#options.requestMs ?? requestMs,
      headersTimeout: Math.min(http1Limits.headersTimeout, this.#options.requestMs ?? requestMs),
      keepAliveTimeout: this.#options.idleMs ?? keepAliveTimeoutMs,
    };
  }

  #createPlain(): Server {
    return createServer(this.#http1Limits, (request, response) => this.#exchange(request, response));
  }

  #createSecure(tls: TlsServerIdentity): Server {
    const server = createSecureServer({
      ...this.#http1Limits,
      ...http2Limits,
      settings: {
        maxConcurrentStreams: this.#options.streamsMax ?? streamsMax,
        maxHeaderListSize: headerBytesMax,
        enablePush: false,
      },
      allowHTTP1: true,
      ...secureContextOf(tls),
      handshakeTimeout: 10_000,
      ...(tls.clientCaPem === undefined ? {} : { requestCert: true, rejectUnauthorized: false }),
    });
    server.on("request", (request, response) => this.#exchange(request, response));
    server.on("session", (session) => {
      this.#sessions.add(session);
      session.once("close", () => this.#sessions.delete(session));
      session.on("error", (error) => this.#log.debug("http session failed", { error }));
      watchSession(session);
      const { idleMs } = this.#options;
      if (idleMs !== undefined) session.setTimeout(idleMs, () => session.close());
    });
    server.on("tlsClientError", (error) => this.#log.debug("tls handshake failed", { error }));
    return server;
  }

  #exchange(request: NodeRequest, response: NodeResponse): void {
    if (this.#isFlood(request)) {
      request.socket.destroy();
      return;
    }
    const exchange = new HttpExchange(request, response, {
      handler: this.#options.handler,
      bodyBytesMax: this.#options.bodyBytesMax,
      requestMs: this.#options.requestMs ?? requestMs,
      clientCertificate: this.#clientCertificate(request),
      log: this.#log,
    });
    this.#exchanges.add(exchange);
    if (this.#closing) exchange.abort(closingError());
    const unused = this.#connections.use(request.socket);
    void exchange.run().then(() => {
      this.#exchanges.delete(exchange);
      unused();
    });
  }

  /**
   * Whether an HTTP/1.1 client sends more requests without waiting for answers than it could have streams over HTTP/2, where the
   * protocol bounds them. Nobody does that in good faith.
   */
  #isFlood(request: NodeRequest): boolean {
    if ("stream" in request) return false;
    const { socket } = request;
    return (
      socket.destroyed || this.#connections.exchangesOn(socket) >= (this.#options.streamsMax ?? streamsMax)
    );
  }

  /** Asked once for each connection, since it means parsing a certificate. */
  #clientCertificate(request: NodeRequest): HttpRequest["clientCertificate"] {
    if (this.#options.tls?.clientCaPem === undefined) return undefined;
    const session = "stream" in request ? request.stream.session : undefined;
    const connection = session ?? request.socket;
    const known = this.#certificates.get(connection);
    if (known !== undefined) return known.found;
    const socket = session?.socket ?? request.socket;
    const found = socket instanceof TLSSocket ? clientCertificateOf(socket) : undefined;
    this.#certificates.set(connection, { found });
    return found;
  }

  #closeIdle(): void {
    if ("closeIdleConnections" in this.server && typeof this.server.closeIdleConnections === "function") {
      this.server.closeIdleConnections();
    }
  }
}

function secureContextOf(tls: TlsServerIdentity): SecureContextOptions {
  return {
    cert: tls.certificatePem,
    key: tls.privateKeyPem,
    minVersion: "TLSv1.2",
    ...(tls.clientCaPem === undefined ? {} : { ca: tls.clientCaPem }),
  };
}

function closingError(): NetworkError {
  return new NetworkError("Closed", "the server is closing; connect again once it is back");
}
