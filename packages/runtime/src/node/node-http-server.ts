import { createServer } from "node:http";
import type { ServerHttp2Session } from "node:http2";
import { createSecureServer } from "node:http2";
import type { Server, Socket } from "node:net";
import { TLSSocket } from "node:tls";

import type { Logger } from "../logger.ts";
import type { HttpRequest, HttpServer, HttpServerOptions, TlsServerIdentity } from "../network.ts";
import { NetworkError } from "../network.ts";
import { clientCertificateOf } from "./client-certificate.ts";
import { formatEndpoint } from "./endpoint-text.ts";
import type { NodeRequest, NodeResponse } from "./http-exchange.ts";
import { HttpExchange } from "./http-exchange.ts";
import { networkFailure } from "./network-failure.ts";
import { watchSession } from "./session-ping.ts";

/** How long open exchanges may go on after the server began to close. */
const closeGraceMs = 2_000;
const connectionsMax = 4_096;
/** Kept longer than clients keep idle connections, so that they rarely meet one that is just being closed. */
const keepAliveTimeoutMs = 120_000;
const headerBytesMax = 32 * 1024;

/** Limits against hostile peers; long exchanges are none of these. */
const http1Limits = {
  maxHeaderSize: headerBytesMax,
  headersTimeout: 20_000,
  requestTimeout: 120_000, // to send the request, not to be answered
  keepAliveTimeout: keepAliveTimeoutMs,
  connectionsCheckingInterval: 5_000,
  keepAlive: true,
  keepAliveInitialDelay: 30_000,
  noDelay: true,
} as const;

const http2Limits = {
  settings: { maxConcurrentStreams: 1_000, maxHeaderListSize: headerBytesMax, enablePush: false },
  maxHeaderListPairs: 200,
  maxSessionMemory: 64, // megabytes
  unknownProtocolTimeout: 10_000,
} as const;

/** Serves HTTP/1.1 in the clear, or HTTP/2 and HTTP/1.1 over TLS. */
export async function serveNodeHttp(options: HttpServerOptions, log: Logger): Promise<HttpServer> {
  const server = new NodeHttpServer(options, log);
  await server.listen();
  return server;
}

class NodeHttpServer implements HttpServer {
  readonly #options: HttpServerOptions;
  readonly #log: Logger;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #exchanges = new Set<HttpExchange>();
  readonly #certificates = new WeakMap<TLSSocket, HttpRequest["clientCertificate"]>();
  #closing: Promise<void> | undefined;
  #port = 0;

  constructor(options: HttpServerOptions, log: Logger) {
    this.#options = options;
    this.#log = log;
    this.#server = options.tls === undefined ? this.#createPlain() : this.#createSecure(options.tls);
    this.#server.maxConnections = connectionsMax;
    this.#server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
      socket.setKeepAlive(true, http1Limits.keepAliveInitialDelay);
      socket.setNoDelay(true);
    });
  }

  get local(): { readonly address: string; readonly port: number } {
    return { address: this.#options.address, port: this.#port };
  }

  async listen(): Promise<void> {
    const { address, port } = this.#options;
    const server = this.#server;
    await new Promise<void>((resolve, reject) => {
      server.once("error", (error) => {
        reject(networkFailure(`cannot serve HTTP on ${formatEndpoint({ address, port })}`, error));
      });
      server.listen({ host: address, port, ipv6Only: true }, () => {
        server.removeAllListeners("error");
        resolve();
      });
    });
    server.on("error", (error) => this.#log.warn("http accept failed", { error }));
    const bound = server.address();
    if (bound !== null && typeof bound === "object") this.#port = bound.port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #createPlain(): Server {
    return createServer(http1Limits, (request, response) => this.#exchange(request, response));
  }

  #createSecure(tls: TlsServerIdentity): Server {
    const server = createSecureServer({
      ...http1Limits,
      ...http2Limits,
      allowHTTP1: true,
      cert: tls.certificatePem,
      key: tls.privateKeyPem,
      minVersion: "TLSv1.2",
      handshakeTimeout: 10_000,
      ...(tls.clientCaPem === undefined
        ? {}
        : { ca: tls.clientCaPem, requestCert: true, rejectUnauthorized: false }),
    });
    server.on("request", (request, response) => this.#exchange(request, response));
    server.on("session", (session) => {
      this.#sessions.add(session);
      session.once("close", () => this.#sessions.delete(session));
      session.on("error", (error) => this.#log.debug("http session failed", { error }));
      watchSession(session);
    });
    server.on("tlsClientError", (error) => this.#log.debug("tls handshake failed", { error }));
    server.on("secureConnection", (socket: TLSSocket) => {
      if (tls.clientCaPem !== undefined) this.#certificates.set(socket, clientCertificateOf(socket));
    });
    return server;
  }

  #exchange(request: NodeRequest, response: NodeResponse): void {
    const exchange = new HttpExchange(request, response, {
      handler: this.#options.handler,
      bodyBytesMax: this.#options.bodyBytesMax,
      clientCertificate: this.#clientCertificate(request),
      log: this.#log,
    });
    this.#exchanges.add(exchange);
    if (this.#closing !== undefined) exchange.abort(closingError());
    void exchange.run().then(() => this.#exchanges.delete(exchange));
  }

  #clientCertificate(request: NodeRequest): HttpRequest["clientCertificate"] {
    if (this.#options.tls?.clientCaPem === undefined) return undefined;
    const socket = "stream" in request ? request.stream.session?.socket : request.socket;
    return socket instanceof TLSSocket
      ? (this.#certificates.get(socket) ?? clientCertificateOf(socket))
      : undefined;
  }

  /** Stops accepting, asks the open exchanges to end, gives them a moment, and breaks what is left. */
  async #close(): Promise<void> {
    const stopped = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const exchange of this.#exchanges) exchange.abort(closingError());
    for (const session of this.#sessions) session.close(); // says GOAWAY and waits for its streams
    const breakRest = (): void => {
      for (const session of this.#sessions) session.destroy();
      for (const socket of this.#sockets) socket.destroy();
    };
    const grace = setTimeout(breakRest, closeGraceMs);
    // An HTTP/1.1 connection that idles between two requests would hold the server for long: end it at once.
    const poll = setInterval(() => this.#exchanges.size === 0 && breakRest(), 20);
    await stopped;
    clearTimeout(grace);
    clearInterval(poll);
  }
}

function closingError(): NetworkError {
  return new NetworkError("Closed", "the server is closing; connect again once it is back");
}
