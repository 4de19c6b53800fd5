import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
}

/** A TCP proxy on loopback that does to its connections what networks do. */
export class TcpProxy implements AsyncDisposable {
  readonly port: number;
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #accepted = 0;
  #toNewConnections: "carry" | "swallow" | "refuse" = "carry";

  private constructor(server: Server, targetPort: number) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on("connection", (near: Socket) => this.#join(near, targetPort));
  }

  static async start(targetPort: number): Promise<TcpProxy> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new TcpProxy(server, targetPort);
  }

  /** How many connections there were. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Breaks all connections. */
  cut(): void {
    for (const { near, far } of this.#pairs) {
      near.destroy();
      far.destroy();
    }
  }

  /** Breaks all connections by a reset (RST), as a middlebox does that has forgotten them. */
  reset(): void {
    for (const { near, far } of this.#pairs) {
      near.resetAndDestroy();
      far.destroy();
    }
  }

  /** Breaks all connections, and each new one at once, until `restore`. */
  refuse(): void {
    this.#toNewConnections = "refuse";
    this.cut();
  }

  /** Swallows everything on all connections and takes new ones, which it does not answer either, until `restore`. */
  blackHole(): void {
    this.#toNewConnections = "swallow";
    this.stall();
  }

  /** Carries new connections again. Those that were swallowed stay silent. */
  restore(): void {
    this.#toNewConnections = "carry";
  }

  /** Carries nothing more on the connections that are open now, and leaves them open: both ends see only silence. */
  stall(): void {
    for (const pair of this.#pairs) swallow(pair);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.cut();
    await closed;
  }

  #join(near: Socket, targetPort: number): void {
    this.#accepted++;
    if (this.#toNewConnections === "refuse") {
      near.destroy();
      return;
    }
    const far = connect(targetPort, "127.0.0.1");
    const pair = { near, far };
    this.#pairs.add(pair);
    const end = (): void => {
      near.destroy();
      far.destroy();
      this.#pairs.delete(pair);
    };
    for (const socket of [near, far]) {
      socket.setNoDelay(true);
      socket.on("error", end);
      socket.on("close", end);
    }
    near.pipe(far);
    far.pipe(near);
    if (this.#toNewConnections === "swallow") swallow(pair);
  }
}

/** Reads and throws away, so that not even a full window tells. */
function swallow({ near, far }: Pair): void {
  near.unpipe();
  far.unpipe();
  near.resume();
  far.resume();
}
