import { type Socket, connect, createServer, isIP } from "node:net";
import { checkServerIdentity, connect as connectTls, TLSSocket, type ConnectionOptions } from "node:tls";

import type { Logger } from "../logger.ts";
import type { Endpoint, TcpConnection, TcpListener, TlsClientOptions } from "../network.ts";
import { NetworkError } from "../network.ts";
import { formatEndpoint } from "../endpoint-text.ts";
import { listenOn } from "./listening.ts";
import { networkFailure } from "./network-failure.ts";
import { copyOctets, plainOctets } from "./octets.ts";

const keepAliveMs = 30_000;
/** Chunks read ahead of the reader stay below this. */
const readAheadBytes = 64 * 1024;

/** Accepts connections on a bound port. */
export async function listenNodeTcp(options: {
  readonly address: string;
  readonly port: number;
  readonly onConnection: (connection: TcpConnection) => void;
  readonly log: Logger;
}): Promise<TcpListener> {
  const { address, port, onConnection, log } = options;
  const open = new Set<Socket>();
  const server = createServer({
    allowHalfOpen: true,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: keepAliveMs,
    highWaterMark: readAheadBytes,
  });
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    onConnection(new NodeTcpConnection(socket));
  });
  const local = await listenOn(server, { address, port }, { attempt: "listen for TCP", log });
  return {
    local,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.resetAndDestroy();
      }),
  };
}

/** Connects to an address, with TLS where its options say so. */
export async function connectNodeTcp(options: {
  readonly to: Endpoint;
  readonly from?: string | undefined;
  readonly tls?: TlsClientOptions;
  readonly signal?: AbortSignal | undefined;
}): Promise<TcpConnection> {
  const { to, from, tls, signal } = options;
  signal?.throwIfAborted();
  const tcp = {
    host: to.address,
    port: to.port,
    allowHalfOpen: true,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: keepAliveMs,
    ...(from === undefined ? {} : { localAddress: from }),
  };
  const socket: Socket = tls === undefined ? connect(tcp) : connectTls({ ...tcp, ...tlsOptions(to, tls) });
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      socket.destroy();
      reject(signal?.reason);
    };
    const onError = (error: Error): void => {
      signal?.removeEventListener("abort", onAbort);
      const leaving = from === undefined ? "" : ` from ${from}`;
      reject(
        networkFailure(
          `cannot connect to ${tls === undefined ? "TCP" : "TLS"} ${formatEndpoint(to)}${leaving}`,
          error,
        ),
      );
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    socket.once("error", onError);
    socket.once(tls === undefined ? "connect" : "secureConnect", () => {
      signal?.removeEventListener("abort", onAbort);
      socket.removeListener("error", onError);
      resolve(new NodeTcpConnection(socket));
    });
  });
}

/** The trust of a client, in Node's terms. Without a name, the certificate must have the address connected to. */
function tlsOptions(
  to: Endpoint,
  { caPem, serverName, insecureSkipVerify, protocols }: TlsClientOptions,
): ConnectionOptions {
  return {
    minVersion: "TLSv1.2",
    rejectUnauthorized: insecureSkipVerify !== true,
    checkServerIdentity: (_host, certificate) => checkServerIdentity(serverName ?? to.address, certificate),
    // An address is no name that a server could choose its certificate by (RFC 6066 §3).
    ...(serverName === undefined || isIP(serverName) !== 0 ? {} : { servername: serverName }),
    ...(caPem === undefined ? {} : { ca: caPem }),
    ...(protocols === undefined ? {} : { ALPNProtocols: [...protocols] }),
  };
}

class NodeTcpConnection implements TcpConnection {
  readonly local: Endpoint;
  readonly remote: Endpoint;
  readonly received: AsyncIterable<Uint8Array>;
  readonly #socket: Socket;
  #failure: NetworkError | undefined;
  #ended: Promise<void> | undefined;
  #destroyed = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.local = { address: socket.localAddress ?? "", port: socket.localPort ?? 0 };
    this.remote = { address: socket.remoteAddress ?? "", port: socket.remotePort ?? 0 };
    this.received = { [Symbol.asyncIterator]: () => this.#read() };
    socket.on("error", (error) => {
      this.#failure ??= networkFailure(this.#attempt("use"), error);
    });
  }

  async write(octets: Uint8Array): Promise<void> {
    this.#throwIfUnusable();
    if (this.#ended !== undefined) {
      throw new NetworkError("Closed", `${this.#attempt("write to")}: our side was ended; connect again`);
    }
    // Copied: the caller may reuse the octets as soon as they were accepted.
    if (this.#socket.write(copyOctets(octets))) return;
    await this.#drained();
  }

  async end(): Promise<void> {
    this.#throwIfUnusable();
    this.#ended ??= new Promise((resolve, reject) => {
      this.#socket.end(() => resolve());
      this.#socket.once("close", () => reject(this.#broken()));
    });
    return this.#ended;
  }

  destroy(): void {
    this.#destroyed = true;
    // Only bare TCP can be reset; inside TLS closing is as sudden.
    if (this.#socket instanceof TLSSocket) this.#socket.destroy();
    else this.#socket.resetAndDestroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#socket.closed) return;
    const closed = new Promise<void>((resolve) => this.#socket.once("close", () => resolve()));
    if (this.#socket.readableEnded && this.#socket.writableFinished) this.#socket.destroy();
    else this.destroy();
    await closed;
  }

  async *#read(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      // The socket must outlive its reader, who may stop reading and still write.
      const chunks = this.#socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
      for await (const chunk of chunks) yield plainOctets(chunk);
    } catch (error) {
      throw this.#destroyed
        ? this.#broken()
        : (this.#failure ?? networkFailure(this.#attempt("read from"), error));
    }
  }

  async #drained(): Promise<void> {
    const socket = this.#socket;
    await new Promise<void>((resolve, reject) => {
      const onDrain = (): void => {
        socket.removeListener("close", onClose);
        resolve();
      };
      const onClose = (): void => {
        socket.removeListener("drain", onDrain);
        reject(this.#broken());
      };
      socket.once("drain", onDrain);
      socket.once("close", onClose);
    });
  }

  #throwIfUnusable(): void {
    if (this.#failure !== undefined || this.#socket.destroyed) throw this.#broken();
  }

  #broken(): NetworkError {
    if (this.#destroyed) {
      return new NetworkError(
        "Closed",
        `${this.#attempt("use")}: it was destroyed on this side; connect again`,
      );
    }
    return this.#failure ?? new NetworkError("Broken", `${this.#attempt("use")}: it broke; connect again`);
  }

  #attempt(verb: string): string {
    return `cannot ${verb} the connection between ${formatEndpoint(this.local)} and ${formatEndpoint(this.remote)}`;
  }
}
