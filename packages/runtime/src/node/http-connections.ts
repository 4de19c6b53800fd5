import type { Socket } from "node:net";

/** How a connection is recognised by a request: a socket of HTTP/2 and TLS is another object than that which was accepted. */
export type ConnectionEnds = Pick<Socket, "remoteAddress" | "remotePort">;

interface Connection {
  readonly socket: Socket;
  exchanges: number;
}

/**
 * The connections of an HTTP server, at most so many: at the limit the one that is idle longest makes room. Where all are
 * in use, the newcomer is refused.
 */
export class HttpConnections {
  readonly #max: number;
  /** By their ends, those used last at the end. */
  readonly #connections = new Map<string, Connection>();

  constructor(max: number) {
    this.#max = max;
  }

  add(socket: Socket): void {
    if (this.#connections.size >= this.#max && !this.#makeRoom()) {
      socket.destroy();
      return;
    }
    const key = keyOf(socket);
    const connection = { socket, exchanges: 0 };
    this.#connections.set(key, connection);
    socket.once("close", () => {
      // Another client may have the same ends by now.
      if (this.#connections.get(key) === connection) this.#connections.delete(key);
    });
  }

  /** How many exchanges are under way on a connection. */
  exchangesOn(ends: ConnectionEnds): number {
    return this.#connections.get(keyOf(ends))?.exchanges ?? 0;
  }

  /** An exchange begins; the function returned is called at its end. */
  use(ends: ConnectionEnds): () => void {
    const key = keyOf(ends);
    const connection = this.#connections.get(key);
    if (connection === undefined) return () => {};
    connection.exchanges += 1;
    return () => {
      connection.exchanges -= 1;
      if (this.#connections.get(key) !== connection) return;
      this.#connections.delete(key);
      this.#connections.set(key, connection);
    };
  }

  destroyAll(): void {
    for (const { socket } of this.#connections.values()) socket.destroy();
  }

  #makeRoom(): boolean {
    for (const [key, { socket, exchanges }] of this.#connections) {
      if (exchanges > 0) continue;
      this.#connections.delete(key);
      socket.destroy();
      return true;
    }
    return false;
  }
}

function keyOf({ remoteAddress, remotePort }: ConnectionEnds): string {
  return `${remoteAddress} ${remotePort}`;
}
