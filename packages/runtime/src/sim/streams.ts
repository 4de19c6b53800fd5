import type { Endpoint } from "../network.ts";
import type { StreamConnection, StreamServer, StreamServerOptions, StreamSink } from "../stream-server.ts";
import type { Host } from "./host.ts";
import { listenSimTcp, type SimTcpConnection } from "./tcp.ts";

/** From here on a connection is congested. */
const unsentBytes = 64 * 1024;

/** Accepts connections and hands their octets over as they come. TLS options are accepted and mean nothing. */
export function serveSimStreams(host: Host, options: StreamServerOptions): StreamServer {
  const open = new Set<SimStreamConnection>();
  const listener = listenSimTcp(host, options, (tcp) => {
    const connection: SimStreamConnection = new SimStreamConnection(tcp, () => open.delete(connection));
    open.add(connection);
    connection.attach(options.onConnection(connection));
  });
  return {
    local: listener.local,
    stop: () => listener.stop(),
    setTls() {},
    [Symbol.asyncDispose]: async () => {
      listener.stop();
      for (const connection of open) connection.destroy();
    },
  };
}

class SimStreamConnection implements StreamConnection {
  readonly #tcp: SimTcpConnection;
  readonly #onClosed: () => void;
  #sink: StreamSink | undefined;
  /** Writes leave one after another, since each may wait for the window. */
  #sending: Promise<void> = Promise.resolve();
  #unsent = 0;
  #congested = false;
  #resumed: (() => void) | undefined;
  #paused: Promise<void> | undefined;
  #closed = false;

  constructor(tcp: SimTcpConnection, onClosed: () => void) {
    this.#tcp = tcp;
    this.#onClosed = onClosed;
  }

  get local(): Endpoint {
    return this.#tcp.local;
  }

  get remote(): Endpoint {
    return this.#tcp.remote;
  }

  get congested(): boolean {
    return this.#congested;
  }

  attach(sink: StreamSink): void {
    this.#sink = sink;
    void this.#pump(sink);
  }

  send(octets: Uint8Array): boolean {
    const copy = new Uint8Array(octets);
    this.#unsent += copy.length;
    this.#congested ||= this.#unsent >= unsentBytes;
    this.#chain(async () => {
      await this.#tcp.write(copy);
      this.#unsent -= copy.length;
      if (this.#unsent > 0 || !this.#congested) return;
      this.#congested = false;
      this.#sink?.onDrain();
    });
    return true;
  }

  pause(): void {
    this.#paused ??= new Promise((resolve) => (this.#resumed = resolve));
  }

  resume(): void {
    this.#resumed?.();
    this.#paused = undefined;
  }

  secure(received: Uint8Array): void {
    if (received.length > 0) this.#sink?.onOctets(received);
  }

  end(): void {
    this.#chain(() => this.#tcp.end());
  }

  destroy(): void {
    this.#tcp.destroy();
  }

  #chain(step: () => Promise<void>): void {
    this.#sending = this.#sending.then(step).catch(() => this.#close());
  }

  async #pump(sink: StreamSink): Promise<void> {
    try {
      for await (const octets of this.#tcp.received) {
        while (this.#paused !== undefined) await this.#paused;
        if (!this.#closed) sink.onOctets(octets);
      }
      if (!this.#closed) sink.onEnd();
      await this.#tcp.closed;
      this.#close();
    } catch {
      this.#close();
    }
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#onClosed();
    this.#sink?.onClose();
  }
}
