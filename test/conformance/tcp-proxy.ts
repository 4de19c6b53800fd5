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

  /** Carries nothing more on the connections that are open now, and leaves them open: both ends see only silence. */
  stall(): void {
    for (const { near, far } of this.#pairs) {
      near.unpipe();
      far.unpipe();
      // Read and thrown away, so that not even a full window tells.
      near.resume();
      far.resume();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.cut();
    await closed;
  }

  #join(near: Socket, targetPort: number): void {
    this.#accepted++;
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
  }
}
