import type { Endpoint, NetworkErrorCode, TcpConnection, TcpListener } from "../network.ts";
import { NetworkError } from "../network.ts";
import type { ConnectionSink, Host } from "./host.ts";
import { formatEndpoint } from "../endpoint-text.ts";
import type { WireEnd, WireMessage } from "./wire.ts";

/** How many octets may be under way or unread before `write` waits. */
const windowBytes = 256 * 1024;

/** Accepts connections on a bound port. */
export function listenSimTcp(
  host: Host,
  asked: Endpoint,
  onConnection: (connection: SimTcpConnection) => void,
): TcpListener & { stop(): void } {
  const open = new Set<SimTcpConnection>();
  const sink: ConnectionSink = host.connectionPorts.bind(asked, (local) => ({
    local,
    accept(end) {
      const connection = new SimTcpConnection(end, () => open.delete(connection));
      open.add(connection);
      onConnection(connection);
    },
  }));
  return {
    local: sink.local,
    stop: () => host.connectionPorts.release(sink),
    [Symbol.asyncDispose]: async () => {
      host.connectionPorts.release(sink);
      for (const connection of open) connection.destroy();
    },
  };
}

type Octets = WireMessage & { readonly kind: "octets"; readonly octets: Uint8Array };
type Credit = WireMessage & { readonly kind: "credit"; readonly bytes: number };

/** One side of a simulated TCP connection, with a window as its bounded buffer. */
export class SimTcpConnection implements TcpConnection {
  readonly local: Endpoint;
  readonly remote: Endpoint;
  readonly received: AsyncIterable<Uint8Array>;
  /** Resolves when the connection has ended on both sides, or broke. */
  readonly closed: Promise<void>;
  readonly #end: WireEnd;
  readonly #onClosed: () => void;
  readonly #inbox: Uint8Array[] = [];
  #unreadBytes = 0;
  #outstandingBytes = 0;
  #failure: NetworkError | undefined;
  #sentFin = false;
  #receivedFin = false;
  #waiters: (() => void)[] = [];

  constructor(end: WireEnd, onClosed: () => void = () => {}) {
    this.#end = end;
    let settle: () => void = () => {};
    this.closed = new Promise((resolve) => (settle = resolve));
    this.#onClosed = () => {
      settle();
      onClosed();
    };
    this.local = end.local;
    this.remote = end.remote;
    this.received = { [Symbol.asyncIterator]: () => this.#read() };
    end.reader = { receive: (message) => this.#receive(message), broken: (error) => this.#fail(error) };
  }

  async write(octets: Uint8Array): Promise<void> {
    if (this.#sentFin) throw this.#error("Closed", "write after end");
    while (this.#failure === undefined && this.#outstandingBytes >= windowBytes) await this.#change();
    this.#throwIfFailed();
    if (octets.length === 0) return;
    this.#outstandingBytes += octets.length;
    const message: Octets = { kind: "octets", octets: new Uint8Array(octets) };
    this.#end.send(message);
  }

  async end(): Promise<void> {
    this.#throwIfFailed();
    if (this.#sentFin) return;
    this.#sentFin = true;
    this.#end.send({ kind: "fin" });
    this.#closeWhenBothEnded();
  }

  destroy(): void {
    if (this.#failure !== undefined) return;
    this.#end.reset("the other side broke it off");
    this.#fail(this.#error("Closed", "destroyed on this side"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!(this.#sentFin && this.#receivedFin)) this.destroy();
  }

  async *#read(): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const octets = this.#inbox.shift();
      if (octets !== undefined) {
        this.#unreadBytes += octets.length;
        if (this.#unreadBytes >= windowBytes / 2) this.#giveCredit();
        yield octets;
      } else if (this.#receivedFin) {
        return;
      } else {
        this.#throwIfFailed();
        await this.#change();
      }
    }
  }

  #giveCredit(): void {
    const credit: Credit = { kind: "credit", bytes: this.#unreadBytes };
    this.#unreadBytes = 0;
    this.#end.send(credit);
  }

  #receive(message: WireMessage): void {
    if (isOctets(message)) this.#inbox.push(message.octets);
    else if (isCredit(message)) this.#outstandingBytes -= message.bytes;
    else if (message.kind === "fin") this.#receivedFin = true;
    this.#closeWhenBothEnded();
    this.#wake();
  }

  #closeWhenBothEnded(): void {
    if (!this.#sentFin || !this.#receivedFin) return;
    this.#end.close();
    this.#onClosed();
  }

  #fail(error: NetworkError): void {
    this.#failure ??= error;
    if (error.code === "Closed" || !this.#receivedFin) this.#inbox.length = 0;
    this.#onClosed();
    this.#wake();
  }

  #throwIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  #error(code: NetworkErrorCode, reason: string): NetworkError {
    const between = `${formatEndpoint(this.local)} and ${formatEndpoint(this.remote)}`;
    return new NetworkError(code, `the connection between ${between} is closed (${reason}); connect again`);
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  #wake(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }
}

function isOctets(message: WireMessage): message is Octets {
  return message.kind === "octets";
}

function isCredit(message: WireMessage): message is Credit {
  return message.kind === "credit";
}
