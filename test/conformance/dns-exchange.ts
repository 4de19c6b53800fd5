import { composeMessage, parseMessage, type Edns, type Message, type Question } from "@meridian/dns";
import type { Endpoint, Runtime, TcpConnection, UdpSocket } from "@meridian/runtime";

interface OpenTcp {
  readonly connection: TcpConnection;
  readonly frames: AsyncIterator<Uint8Array>;
}

interface OpenUdp {
  readonly socket: UdpSocket;
  onDatagram: (octets: Uint8Array) => void;
}

/** Asks one server raw messages: over one kept TCP connection, or over UDP with repetition. */
export class DnsExchange implements AsyncDisposable {
  readonly #runtime: Runtime;
  readonly #server: Endpoint;
  #tcp: OpenTcp | undefined;
  #udp: OpenUdp | undefined;
  #nextId = 1;

  constructor(runtime: Runtime, server: Endpoint) {
    this.#runtime = runtime;
    this.#server = server;
  }

  /** The answer to one question over TCP, which has room for all of it. */
  async overTcp(question: Question, edns?: Edns): Promise<Message> {
    const octets = composeMessage({
      ...{ id: this.#id(), questions: [question] },
      ...(edns === undefined ? {} : { edns }),
    });
    this.#tcp ??= await this.#connect();
    const { connection, frames } = this.#tcp;
    const framed = new Uint8Array(octets.length + 2);
    framed.set([octets.length >> 8, octets.length & 255]);
    framed.set(octets, 2);
    await connection.write(framed);
    const frame = await frames.next();
    if (frame.done === true) throw new Error(`${this.#server.port} closed the connection`);
    return parseMessage(frame.value);
  }

  /** The answer to a message over UDP; asked again when none comes. */
  async overUdp(message: Partial<Message>): Promise<Message> {
    const octets = composeMessage({ ...message, id: this.#id() });
    this.#udp ??= await this.#bind();
    const { socket } = this.#udp;
    const answered = new Promise<Message>((resolve) => {
      this.#udp!.onDatagram = (datagram) => {
        if (datagram[0] === octets[0] && datagram[1] === octets[1]) resolve(parseMessage(datagram));
      };
    });
    for (let tries = 0; tries < 5; tries++) {
      socket.send(octets, this.#server);
      const lapsed = this.#runtime.clock.sleep(2_000).then(() => undefined);
      const answer = await Promise.race([answered, lapsed]);
      if (answer !== undefined) return answer;
    }
    throw new Error(
      `${this.#server.address}:${this.#server.port} does not answer ${JSON.stringify(message)}`,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#tcp?.connection.destroy();
    await this.#udp?.socket[Symbol.asyncDispose]();
  }

  #id(): number {
    this.#nextId = (this.#nextId % 0xffff) + 1;
    return this.#nextId;
  }

  async #connect(): Promise<OpenTcp> {
    const connection = await this.#runtime.network.connectTcp({ to: this.#server });
    return { connection, frames: framesOf(connection)[Symbol.asyncIterator]() };
  }

  async #bind(): Promise<OpenUdp> {
    const held: { onDatagram: (octets: Uint8Array) => void } = { onDatagram() {} };
    const socket = await this.#runtime.network.bindUdp({
      address: "127.0.0.1",
      port: 0,
      onDatagram: (octets) => held.onDatagram(octets.slice()),
    });
    return Object.assign(held, { socket });
  }
}

/** The messages of a connection, each after its length (RFC 1035 §4.2.2). */
async function* framesOf(connection: TcpConnection): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array = new Uint8Array();
  for await (const chunk of connection.received) {
    const octets = new Uint8Array(rest.length + chunk.length);
    octets.set(rest);
    octets.set(chunk, rest.length);
    let at = 0;
    while (octets.length - at >= 2) {
      const length = (octets[at]! << 8) | octets[at + 1]!;
      if (octets.length - at - 2 < length) break;
      yield octets.slice(at + 2, at + 2 + length);
      at += 2 + length;
    }
    rest = octets.slice(at);
  }
}
