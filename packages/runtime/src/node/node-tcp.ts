import { type Socket, connect, createServer } from "node:net";

import type { Logger } from "../logger.ts";
import type { Endpoint, TcpConnection, TcpListener } from "../network.ts";
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

/** Connects to an address. */
export async function connectNodeTcp(options: {
  readonly to: Endpoint;
  readonly from?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}): Promise<TcpConnection> {
  const { to, from, signal } = options;
  signal?.throwIfAborted();
  const socket = connect({
    host: to.address,
    port: to.port,
    allowHalfOpen: true,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: keepAliveMs,
    ...(from === undefined ? {} : { localAddress: from }),
  });
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      socket.destroy();
      reject(signal?.reason);
    };
    const onError = (error: Error): void => {
      signal?.removeEventListener("abort", onAbort);
      const leaving = from === undefined ? "" : ` from ${from}`;
      reject(networkFailure(`cannot connect to TCP ${formatEndpoint(to)}${leaving}`, error));
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    socket.once("error", onError);
    socket.once("connect", () => {
      signal?.removeEventListener("abort", onAbort);
      socket.removeListener("error", onError);
      resolve(new NodeTcpConnection(socket));
    });
  });
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
    this.#socket.resetAndDestroy();
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
