import { deferred, ReusedClient, type DatagramClient, type Logger } from "@meridian/runtime";
import type { AnswerDatagram, StreamConnection, StreamSink } from "@meridian/runtime";
import { toFrame } from "../message/frame-reader.ts";
import { headerOctets } from "../message/header.ts";
import type { RequestPipeline } from "./dns-request.ts";
import { ProxyHeader, proxyHeaderOctetsMax } from "./proxy-header.ts";
import type { TcpOutput } from "./tcp-output.ts";

/** Requests of one connection that are answered at once; questions behind them wait. */
const requestsMax = 8;

/** What all sessions of a server share. */
export interface TcpSessionHost {
  readonly answer: AnswerDatagram;
  /** Answers what `answer` defers. */
  readonly requests: () => RequestPipeline | undefined;
  readonly output: TcpOutput;
  readonly monotonicMs: () => number;
  readonly log: Logger;
  /** Longer questions reset the connection. */
  readonly frameOctetsMax: number;
  /** After so many questions a connection is ended. */
  readonly questionsMax: number;
  /** A read brought so many whole questions. */
  readonly onActive: (session: TcpSession, questions: number) => void;
  readonly onClose: (session: TcpSession) => void;
}

/** How a connection begins. */
export interface TcpSessionOptions {
  readonly connection: StreamConnection;
  readonly transport: "tcp" | "tls";
  /** Whether a peer speaks for others, and says so first. */
  readonly proxied: (peer: DatagramClient) => boolean;
}

/**
 * One connection: all questions that came in one read are answered with one write, in the order they came. What needs more
 * than a lookup is answered when it is ready, between the others (RFC 7766 §7).
 *
 * A client that does not take its answers is not read any more, so at most one batch and one answer wait for it.
 */
export class TcpSession implements StreamSink {
  /** When the last whole question was there, or the connection began. */
  activeMs: number;
  asked = 0;
  /** Since when answers have not been taken, or undefined. */
  congestedSinceMs: number | undefined;
  /** Who is limited: the peer, which is not the client where it is a proxy. */
  readonly peer: DatagramClient;
  readonly proxied: boolean;
  readonly transport: "tcp" | "tls";
  /** Its IPv4 address or IPv6 /64: what one client can hold without effort. */
  readonly network: string;
  /** Why the connection ended; undefined while it is open. */
  end: "clean" | "reset" | "evicted" | "expired" | undefined;
  readonly #host: TcpSessionHost;
  readonly #connection: StreamConnection;
  readonly #client: ReusedClient;
  #awaitsProxy: boolean;
  /** A frame that has not arrived whole, or a PROXY header. */
  #partial: Uint8Array | undefined;
  #filled = 0;
  /** The length's first octet, when a read ended between the two; else -1. */
  #firstOctet = -1;
  /** What was read and must wait. */
  #held: Uint8Array | undefined;
  #requests = 0;
  #abort: AbortController | undefined;
  #onDrain: (() => void)[] = [];
  #peerEnded = false;
  #draining = false;
  #sentEnd = false;

  constructor(host: TcpSessionHost, options: TcpSessionOptions) {
    const { connection, transport } = options;
    this.#host = host;
    this.#connection = connection;
    this.transport = transport;
    this.#client = new ReusedClient(transport, connection.remote);
    this.peer = this.#client.copy();
    this.proxied = options.proxied(this.peer);
    this.network = this.peer.octets.subarray(0, this.peer.octetCount === 4 ? 4 : 8).join(".");
    this.#awaitsProxy = this.proxied;
    this.activeMs = host.monotonicMs();
    if (transport === "tls" && !this.proxied) connection.secure(new Uint8Array());
  }

  /** Whether a request is being answered, which is no idleness of the client. */
  get busy(): boolean {
    return this.#requests > 0;
  }

  onOctets(octets: Uint8Array): void {
    if (this.end !== undefined || this.#sentEnd) return;
    if (this.#awaitsProxy) this.#readProxyHeader(octets);
    else this.#read(octets);
  }

  onDrain(): void {
    this.congestedSinceMs = undefined;
    for (const resolve of this.#onDrain.splice(0)) resolve();
    this.#readOn();
  }

  onEnd(): void {
    this.#peerEnded = true;
    this.#endIfDone();
  }

  onClose(): void {
    this.end ??= this.#sentEnd ? "clean" : "reset";
    this.#abort?.abort();
    this.#held = undefined;
    for (const resolve of this.#onDrain.splice(0)) resolve();
    this.#host.onClose(this);
  }

  /** Ends the connection after the answers that are due. */
  drain(): void {
    this.#draining = true;
    this.#endIfDone();
  }

  reset(reason: "reset" | "evicted" | "expired"): void {
    this.end ??= reason;
    this.#connection.destroy();
  }

  #readProxyHeader(octets: Uint8Array): void {
    this.#partial ??= new Uint8Array(proxyHeaderOctetsMax);
    const taken = Math.min(octets.length, this.#partial.length - this.#filled);
    this.#partial.set(octets.subarray(0, taken), this.#filled);
    const before = this.#filled;
    this.#filled += taken;
    const header = new ProxyHeader();
    const verdict = header.read(this.#partial, 0, this.#filled, "stream");
    if (verdict === "short") return;
    if (verdict === "bad") return this.reset("reset");
    if (!header.local) {
      this.#client.setOctets(this.#partial, header.addressAt, header.addressOctets, header.port);
    }
    this.#awaitsProxy = false;
    this.#partial = undefined;
    this.#filled = 0;
    const rest = octets.subarray(header.length - before);
    if (this.transport === "tls") this.#connection.secure(rest);
    else this.#read(rest);
  }

  /** Answers all questions that are whole with these octets. */
  #read(octets: Uint8Array): void {
    const { output } = this.#host;
    const askedBefore = this.asked;
    const { length } = octets;
    let at = 0;
    while (at < length) {
      if (this.#partial === undefined && this.#firstOctet < 0 && at + 1 < length) {
        // By far the most questions lie whole in one read, and are answered where they lie.
        const frameLength = (octets[at]! << 8) | octets[at + 1]!;
        if (this.#isBadLength(frameLength)) return this.#resetRead();
        if (at + 2 + frameLength <= length) {
          if (!this.#take(octets, at + 2, frameLength)) return this.#resetRead();
          at += 2 + frameLength;
        } else {
          this.#beginPartial(frameLength);
          at += 2;
        }
      } else {
        at = this.#fill(octets, at);
        if (at < 0) return this.#resetRead();
      }
      if (output.full) this.#flush();
      if (this.#mustWait) {
        if (at < length) this.#held = octets.slice(at);
        this.#connection.pause();
        break;
      }
    }
    this.#flush();
    if (this.congestedSinceMs !== undefined) this.#connection.pause();
    if (this.asked === askedBefore) return;
    this.activeMs = this.#host.monotonicMs();
    this.#host.onActive(this, this.asked - askedBefore);
    if (this.asked >= this.#host.questionsMax) this.drain();
  }

  get #mustWait(): boolean {
    return this.congestedSinceMs !== undefined || this.#requests >= requestsMax;
  }

  #isBadLength(length: number): boolean {
    return length < headerOctets || length > this.#host.frameOctetsMax;
  }

  #beginPartial(length: number): void {
    this.#partial = new Uint8Array(length);
    this.#filled = 0;
  }

  /** Goes on with a frame that is not whole, and answers it if it is now. Returns where to read on, or -1 for a broken stream. */
  #fill(octets: Uint8Array, from: number): number {
    let at = from;
    if (this.#partial === undefined) {
      if (this.#firstOctet < 0) {
        this.#firstOctet = octets[at]!;
        return at + 1;
      }
      const length = (this.#firstOctet << 8) | octets[at++]!;
      this.#firstOctet = -1;
      if (this.#isBadLength(length)) return -1;
      this.#beginPartial(length);
    }
    const partial = this.#partial!;
    const taken = Math.min(partial.length - this.#filled, octets.length - at);
    partial.set(octets.subarray(at, at + taken), this.#filled);
    this.#filled += taken;
    at += taken;
    if (this.#filled < partial.length) return at;
    this.#partial = undefined;
    return this.#take(partial, 0, partial.length) ? at : -1;
  }

  /** Answers one question, or has it answered; false when it is none. */
  #take(octets: Uint8Array, at: number, length: number): boolean {
    const { output, answer } = this.#host;
    const answered = output.add(answer, octets, at, length, this.#client);
    // What gets no answer on UDP is no question: a client that sends it is not to be trusted with a connection.
    if (answered === 0) return false;
    this.asked++;
    if (answered !== deferred) return true;
    const requests = this.#host.requests();
    if (requests === undefined) return false;
    void this.#serve(requests, octets.slice(at, at + length));
    return true;
  }

  async #serve(requests: RequestPipeline, message: Uint8Array): Promise<void> {
    this.#requests++;
    this.#abort ??= new AbortController();
    const { signal } = this.#abort;
    try {
      for await (const answer of requests.handle({ message, client: this.#client, signal })) {
        if (this.end !== undefined) break;
        this.#connection.send(toFrame(answer));
        this.#noteCongestion();
        if (this.congestedSinceMs !== undefined) {
          await new Promise<void>((resolve) => this.#onDrain.push(resolve));
        }
      }
    } catch (error) {
      if (!signal.aborted) this.#host.log.warn("answering a request failed", { error });
      // The client is left with part of an answer, or none: it must not wait for the rest.
      this.reset("reset");
    }
    this.#requests--;
    this.activeMs = this.#host.monotonicMs();
    this.#readOn();
    this.#endIfDone();
  }

  #flush(): void {
    this.#host.output.flush(this.#connection);
    this.#noteCongestion();
  }

  #noteCongestion(): void {
    if (this.#connection.congested) this.congestedSinceMs ??= this.#host.monotonicMs();
  }

  #resetRead(): void {
    this.#host.output.clear();
    this.reset("reset");
  }

  #readOn(): void {
    if (this.end !== undefined || this.#mustWait) return;
    const held = this.#held;
    this.#held = undefined;
    this.#connection.resume();
    if (held !== undefined) this.#read(held);
    this.#endIfDone();
  }

  /** The client may have closed its side only: ours follows when its answers are out. */
  #endIfDone(): void {
    if (this.#sentEnd || !(this.#peerEnded || this.#draining)) return;
    if (this.#requests > 0 || this.#held !== undefined) return;
    this.#sentEnd = true;
    this.#connection.end();
  }
}
