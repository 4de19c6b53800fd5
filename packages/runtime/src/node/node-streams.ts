import { createServer, type Socket } from "node:net";
import { createSecureContext, type SecureContext, TLSSocket } from "node:tls";

import type { Logger } from "../logger.ts";
import type { Endpoint } from "../network.ts";
import { NetworkError } from "../network.ts";
import type {
  StreamConnection,
  StreamServer,
  StreamServerOptions,
  StreamSink,
  StreamTls,
} from "../stream-server.ts";
import { listenOn } from "./listening.ts";
import { networkFailure } from "./network-failure.ts";
import { copyOctets, plainOctets } from "./octets.ts";

const keepAliveMs = 30_000;
/** From here on a connection is congested. */
const unsentBytes = 64 * 1024;

/** Accepts connections and hands their octets over as they come. */
export async function serveNodeStreams(options: StreamServerOptions, log: Logger): Promise<StreamServer> {
  let handshake = options.tls === undefined ? undefined : handshakeOf(options.tls);
  const open = new Set<NodeStreamConnection>();
  const server = createServer({
    allowHalfOpen: true,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: keepAliveMs,
    highWaterMark: unsentBytes,
  });
  server.on("connection", (socket) => {
    const connection = new NodeStreamConnection(socket, {
      handshake,
      onClosed: () => open.delete(connection),
    });
    open.add(connection);
    connection.attach(options.onConnection(connection));
  });
  const local = await listenOn(server, options, { attempt: "listen for TCP", log });
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= new Promise((resolve) => server.close(() => resolve())));
  return {
    local,
    stop: () => void stop(),
    setTls(tls) {
      handshake = handshakeOf(tls);
    },
    [Symbol.asyncDispose]: async () => {
      const done = stop();
      for (const connection of open) connection.destroy();
      await done;
    },
  };
}

interface Handshake {
  readonly secureContext: SecureContext;
  readonly ALPNProtocols: string[];
}

function handshakeOf(tls: StreamTls): Handshake {
  try {
    const secureContext = createSecureContext({
      cert: tls.certificatePem,
      key: tls.privateKeyPem,
      minVersion: "TLSv1.2",
      ...(tls.clientCaPem === undefined ? {} : { ca: tls.clientCaPem }),
    });
    return { secureContext, ALPNProtocols: [...tls.protocols] };
  } catch (error) {
    throw networkFailure("cannot use the certificate and key given", error);
  }
}

class NodeStreamConnection implements StreamConnection {
  readonly local: Endpoint;
  readonly remote: Endpoint;
  readonly #raw: Socket;
  readonly #handshake: Handshake | undefined;
  readonly #onClosed: () => void;
  /** The TCP socket, or the TLS socket over it. */
  #socket: Socket;
  #sink: StreamSink | undefined;
  #closed = false;

  constructor(
    raw: Socket,
    options: { readonly handshake: Handshake | undefined; readonly onClosed: () => void },
  ) {
    this.#raw = raw;
    this.#socket = raw;
    this.#handshake = options.handshake;
    this.#onClosed = options.onClosed;
    this.local = { address: raw.localAddress ?? "", port: raw.localPort ?? 0 };
    this.remote = { address: raw.remoteAddress ?? "", port: raw.remotePort ?? 0 };
    raw.on("error", ignoreError);
    raw.once("close", () => this.#close());
  }

  /** Begins to read. */
  attach(sink: StreamSink): void {
    this.#sink = sink;
    if (this.#socket === this.#raw) this.#listen();
  }

  get congested(): boolean {
    return this.#socket.writableNeedDrain;
  }

  send(octets: Uint8Array): boolean {
    const socket = this.#socket;
    if (!socket.writable) return true;
    if (socket !== this.#raw) return this.#sendSecured(socket, octets);
    socket.write(octets);
    // The kernel mostly takes it all at once, and then nobody reads the octets any more.
    return socket.writableLength === 0;
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  secure(received: Uint8Array): void {
    const raw = this.#raw;
    if (this.#handshake === undefined || this.#socket !== raw) {
      throw new NetworkError("Closed", "cannot begin TLS: the server has no certificate, or TLS has begun");
    }
    if (raw.destroyed) return;
    raw.removeAllListeners("data").removeAllListeners("end").removeAllListeners("drain");
    raw.pause();
    if (received.length > 0) raw.unshift(received.slice());
    const secured = new TLSSocket(raw, { isServer: true, ...this.#handshake });
    secured.on("error", () => this.destroy()); // a failed handshake, mostly
    secured.once("close", () => this.#close());
    this.#socket = secured;
    this.#listen();
  }

  end(): void {
    if (!this.#socket.destroyed) this.#socket.end();
  }

  destroy(): void {
    if (!this.#raw.destroyed) this.#raw.resetAndDestroy();
    if (this.#socket !== this.#raw) this.#socket.destroy();
  }

  /** TLS brings each record by itself: what answers those of one turn leaves as one. */
  #sendSecured(socket: Socket, octets: Uint8Array): boolean {
    if (socket.writableCorked === 0) {
      socket.cork();
      setImmediate(() => socket.uncork());
    }
    socket.write(copyOctets(octets));
    return true;
  }

  #listen(): void {
    const socket = this.#socket;
    socket.on("data", (octets: Buffer) => this.#sink?.onOctets(plainOctets(octets)));
    socket.on("drain", () => this.#sink?.onDrain());
    socket.on("end", () => this.#sink?.onEnd());
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#onClosed();
    this.#sink?.onClose();
  }
}

function ignoreError(): void {}
