import { NetworkError, type Endpoint, type Runtime, type UdpSocket } from "@meridian/runtime";
import { headerOctets } from "../message/header.ts";
import { ipv4FromText, ipv6FromText } from "../name/address.ts";
import type { SealedReply, Sealer } from "./sealing.ts";

/** A datagram sent, whose reply is waited for. */
interface Exchange {
  readonly server: string;
  readonly question: Uint8Array;
  readonly exactCase: boolean;
  readonly opcode: number;
  readonly accept: (reply: Uint8Array) => SealedReply;
  readonly onReply: (reply: SealedReply) => void;
}

interface PooledSocket {
  readonly socket: UdpSocket;
  readonly exchanges: Map<number, Exchange>;
  sent: number;
}

/** After this many messages a socket is replaced, so that its port does not become known. */
const messagesPerSocketMax = 1_000;
/** Above this, ids would become guessable and rare. */
const exchangesPerSocketMax = 8_192;
/** Messages whose reply is waited for, over all sockets. */
const exchangesMax = 32_768;

/**
 * Sends messages over a few sockets and matches what comes back by source, id, opcode and question. All else, late
 * replies to earlier questions included, is ignored (RFC 5452 §9.1).
 */
export class UdpExchanges implements AsyncDisposable {
  readonly #runtime: Runtime;
  readonly #from: string | undefined;
  readonly #socketsMax: number;
  readonly #pools: ReadonlyMap<"4" | "6", Promise<PooledSocket>[]> = new Map([
    ["4", []],
    ["6", []],
  ]);
  #turn = 0;
  #inFlight = 0;
  #closed = false;

  constructor(runtime: Runtime, options: { readonly from: string | undefined; readonly socketsMax: number }) {
    this.#runtime = runtime;
    this.#from = options.from;
    this.#socketsMax = options.socketsMax;
  }

  /**
   * Sends a message, whose id is set here, and hands over each matching reply until the returned function is called.
   *
   * @throws NetworkError when no socket can be bound, or too many messages are under way
   */
  async send(
    message: Uint8Array,
    server: Endpoint,
    options: {
      readonly questionLength: number;
      /** Whether the reply must repeat the question's case, too. */
      readonly exactCase?: boolean;
      readonly seal: Sealer;
      readonly onReply: (reply: SealedReply) => void;
    },
  ): Promise<() => void> {
    if (this.#inFlight >= exchangesMax) {
      throw new NetworkError("Closed", `${exchangesMax} DNS messages wait for replies; ask less at once`);
    }
    const pooled = await this.#acquire(server.address.includes(":") ? "6" : "4");
    let id: number;
    do id = this.#runtime.random.uint32() & 0xffff;
    while (pooled.exchanges.has(id));
    message[0] = id >>> 8;
    message[1] = id;
    const sealed = options.seal(message);
    pooled.exchanges.set(id, {
      server: endpointKey(server),
      question: message.slice(headerOctets, headerOctets + options.questionLength),
      exactCase: options.exactCase ?? false,
      opcode: message[2]! & 0x78,
      accept: sealed.accept,
      onReply: options.onReply,
    });
    pooled.sent++;
    this.#inFlight++;
    pooled.socket.send(sealed.octets, server);
    return () => {
      if (!pooled.exchanges.delete(id)) return;
      this.#inFlight--;
      if (pooled.sent >= messagesPerSocketMax && pooled.exchanges.size === 0) this.#close(pooled);
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    const sockets = [...this.#pools.values()].flat();
    for (const pool of this.#pools.values()) pool.length = 0;
    await Promise.all(
      sockets.map(async (socket) => {
        const pooled = await socket.catch(() => undefined);
        await pooled?.socket[Symbol.asyncDispose]();
      }),
    );
  }

  async #acquire(family: "4" | "6"): Promise<PooledSocket> {
    const pool = this.#pools.get(family)!;
    const slot = this.#turn++ % this.#socketsMax;
    const existing = pool[slot];
    if (existing !== undefined) {
      const pooled = await existing.catch(() => undefined);
      const usable =
        pooled !== undefined &&
        pooled.sent < messagesPerSocketMax &&
        pooled.exchanges.size < exchangesPerSocketMax;
      if (usable) return pooled;
      if (pool[slot] !== existing) return this.#acquire(family);
    }
    const opened = this.#open(family);
    pool[slot] = opened;
    return opened;
  }

  async #open(family: "4" | "6"): Promise<PooledSocket> {
    const any = family === "4" ? "0.0.0.0" : "::";
    const from = this.#from !== undefined && this.#from.includes(":") === (family === "6") ? this.#from : any;
    const exchanges = new Map<number, Exchange>();
    const socket = await this.#runtime.network.bindUdp({
      address: from,
      port: 0,
      onDatagram: (datagram, sender) => deliver(exchanges, datagram, sender),
    });
    const pooled = { socket, exchanges, sent: 0 };
    if (this.#closed) this.#close(pooled);
    return pooled;
  }

  #close(pooled: PooledSocket): void {
    void (async () => {
      try {
        await pooled.socket[Symbol.asyncDispose]();
      } catch (error) {
        this.#runtime.log.debug("closing a DNS client socket failed", { error });
      }
    })();
  }
}

function deliver(exchanges: ReadonlyMap<number, Exchange>, datagram: Uint8Array, sender: Endpoint): void {
  if (datagram.length < headerOctets || (datagram[2]! & 0x80) === 0) return;
  const exchange = exchanges.get((datagram[0]! << 8) | datagram[1]!);
  if (exchange === undefined || exchange.opcode !== (datagram[2]! & 0x78)) return;
  if (
    exchange.server !== endpointKey(sender) ||
    !repeatsQuestion(datagram, exchange.question, exchange.exactCase)
  )
    return;
  // A copy: the datagram is valid within this call only.
  exchange.onReply(exchange.accept(datagram.slice()));
}

/**
 * Whether a reply has the question asked. Some servers leave it out of an error (QDCOUNT 0); the right source and id
 * must do then.
 */
export function repeatsQuestion(reply: Uint8Array, question: Uint8Array, exactCase = false): boolean {
  const count = (reply[4]! << 8) | reply[5]!;
  if (count === 0) return (reply[3]! & 15) !== 0;
  if (count !== 1 || reply.length < headerOctets + question.length) return false;
  return question.every((octet, index) => {
    const repeated = reply[headerOctets + index]!;
    return octet === repeated || (!exactCase && isLetter(octet) && (octet ^ repeated) === 0x20);
  });
}

function isLetter(octet: number): boolean {
  const folded = octet | 0x20;
  return folded >= 0x61 && folded <= 0x7a;
}

/** Equal for equal endpoints, however their addresses are written. */
export function endpointKey({ address, port }: Endpoint): string {
  const octets = ipv4FromText(address) ?? ipv6FromText(address.split("%")[0]!);
  return `${octets?.join(".") ?? address} ${port}`;
}
