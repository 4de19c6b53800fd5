import {
  NetworkError,
  type AnswerDatagram,
  type Endpoint,
  type HttpServer,
  type Network,
  type Runtime,
  type StreamServer,
  type TlsServerIdentity,
  type UdpServer,
} from "@meridian/runtime";
import type { Authority } from "./authority.ts";
import { dohHandler, dohQuestionOctetsMax } from "./doh-handler.ts";
import { answerProxied } from "./proxy-datagrams.ts";
import { ProxySources } from "./proxy-sources.ts";
import { TcpSessions, type TcpCounters, type TcpLimits } from "./tcp-sessions.ts";
import { UdpRequests } from "./udp-requests.ts";

/** What to serve, where, and within which limits. */
export interface ServeDnsOptions {
  readonly authority: Authority;
  /** Each is served over UDP and TCP. With port 0 both get the same free port. */
  readonly listen: readonly Endpoint[];
  readonly tcp?: TcpLimits;
  /** DNS over TLS (RFC 7858), usually on port 853, within the limits of TCP. Off by default. */
  readonly tls?: { readonly listen: readonly Endpoint[]; readonly identity: TlsServerIdentity };
  /** DNS over HTTPS (RFC 8484), HTTP/2 and HTTP/1.1. Off by default. */
  readonly https?: {
    readonly listen: readonly Endpoint[];
    readonly identity: TlsServerIdentity;
    /** Default `/dns-query`. */
    readonly path?: string;
  };
  /**
   * Networks of proxies, such as `10.0.0.0/8`: what comes from them must begin with a PROXY protocol v2 header and is
   * answered as from the client that the header names. On all listeners but HTTPS. Default: none.
   */
  readonly proxies?: readonly string[];
  /** How long open connections may finish at close. Default 1,000. */
  readonly closeGraceMs?: number;
  /** Stands in for the authority's own function, to see or change what it does. */
  readonly answer?: AnswerDatagram;
  /** Serves the datagrams, in place of the runtime's network; for threads that answer them. */
  readonly serveUdp?: Network["serveUdp"];
}

/** Numbers of the listeners; those of the answers are the authority's. */
export interface DnsServerCounters extends TcpCounters {
  httpsQuestions: number;
  /** Datagrams lost since too many that need more than a lookup were under way. */
  udpRequestsLost: number;
  /** Answers lost since too many waited for the network; those of threads are counted by the threads. */
  udpAnswersLost: number;
}

/**
 * Running listeners. Disposing it stops accepting, sends the answers that are due, then closes. Clients that ask for
 * keepalive meanwhile are told to leave (RFC 7828).
 */
export interface DnsServer extends AsyncDisposable {
  /** As bound, in the order of `listen`. */
  readonly local: readonly Endpoint[];
  readonly localTls: readonly Endpoint[];
  readonly localHttps: readonly Endpoint[];
  readonly counters: Readonly<DnsServerCounters>;
  /**
   * Uses another certificate for TLS and HTTPS from the next handshake on; open connections go on.
   *
   * @throws NetworkError `Broken` when certificate and key do not fit; the one before stays
   */
  setIdentity(identity: TlsServerIdentity): void;
}

/** A port that is free for UDP may be taken for TCP; then the next free one is tried. */
const freePortTriesMax = 20;
/** The ALPN name of DNS over TLS. */
const dotProtocols = ["dot"] as const;
const httpConnectionsMax = 1_000;
const httpStreamsMax = 100;
const httpRequestMs = 8_000;
const httpIdleMs = 20_000;

/**
 * Serves an authority over UDP and TCP, and over TLS and HTTPS where asked. All transports pass the same function.
 *
 * @throws NetworkError when an endpoint cannot be bound; those already bound are closed again
 * @throws DnsError `BadRecord` for a network of proxies that is none
 */
export async function serveDns(runtime: Runtime, options: ServeDnsOptions): Promise<DnsServer> {
  const listeners = new DnsListeners(runtime, options);
  try {
    await listeners.bind();
  } catch (error) {
    await listeners.close(0);
    throw error;
  }
  let closing: Promise<void> | undefined;
  return {
    local: listeners.udp.map(({ local }) => local),
    localTls: listeners.tls.map(({ local }) => local),
    localHttps: listeners.https.map(({ local }) => local),
    counters: listeners.counters,
    setIdentity: (identity) => listeners.setIdentity(identity),
    [Symbol.asyncDispose]: () => (closing ??= listeners.close(options.closeGraceMs ?? 1_000)),
  };
}

class DnsListeners {
  readonly udp: UdpServer[] = [];
  readonly tcp: StreamServer[] = [];
  readonly tls: StreamServer[] = [];
  readonly https: HttpServer[] = [];
  readonly counters: DnsServerCounters;
  readonly #runtime: Runtime;
  readonly #options: ServeDnsOptions;
  readonly #answer: AnswerDatagram;
  readonly #proxies: ProxySources;
  readonly #sessions: TcpSessions;
  readonly #udpRequests: UdpRequests;

  constructor(runtime: Runtime, options: ServeDnsOptions) {
    const { authority } = options;
    const requests = (): Authority["requests"] => authority.requests;
    this.#runtime = runtime;
    this.#options = options;
    this.#answer = options.answer ?? authority.answer;
    this.#proxies = new ProxySources(options.proxies ?? []);
    this.#sessions = new TcpSessions(runtime, {
      answer: this.#answer,
      requests,
      proxies: this.#proxies,
      limits: options.tcp ?? {},
      onIdleMs: (idleMs) => (authority.tcpIdleMs = idleMs),
    });
    this.counters = Object.assign(this.#sessions.counters, {
      httpsQuestions: 0,
      udpRequestsLost: 0,
      udpAnswersLost: 0,
    });
    const { counters } = this;
    this.#udpRequests = new UdpRequests({
      requests,
      proxies: this.#proxies,
      log: runtime.log,
      onLost: () => counters.udpRequestsLost++,
    });
  }

  async bind(): Promise<void> {
    const { listen, tls, https } = this.#options;
    for (const endpoint of listen) await this.#bindBoth(endpoint);
    for (const endpoint of tls?.listen ?? []) {
      this.tls.push(
        await this.#runtime.network.serveStreams({
          ...endpoint,
          tls: { ...tls!.identity, protocols: dotProtocols },
          onConnection: (connection) => this.#sessions.accept(connection, "tls"),
        }),
      );
    }
    for (const endpoint of https?.listen ?? []) {
      this.https.push(
        await this.#runtime.network.serveHttp({
          ...endpoint,
          tls: https!.identity,
          handler: dohHandler({
            answer: this.#answer,
            requests: () => this.#options.authority.requests,
            path: https!.path ?? "/dns-query",
            onQuestion: () => this.counters.httpsQuestions++,
          }),
          bodyBytesMax: dohQuestionOctetsMax,
          connectionsMax: httpConnectionsMax,
          streamsMax: httpStreamsMax,
          requestMs: httpRequestMs,
          idleMs: httpIdleMs,
        }),
      );
    }
  }

  setIdentity(identity: TlsServerIdentity): void {
    for (const server of this.tls) server.setTls({ ...identity, protocols: dotProtocols });
    for (const server of this.https) server.setTls(identity);
  }

  async close(graceMs: number): Promise<void> {
    // UDP first: it has nothing in flight but what is deferred.
    await Promise.all(this.udp.map((server) => server[Symbol.asyncDispose]()));
    this.#udpRequests[Symbol.dispose]();
    for (const server of [...this.tcp, ...this.tls]) server.stop();
    await Promise.all([
      this.#sessions.drain(graceMs),
      ...this.https.map((server) => server[Symbol.asyncDispose]()),
    ]);
    await Promise.all([...this.tcp, ...this.tls].map((server) => server[Symbol.asyncDispose]()));
  }

  async #bindBoth(endpoint: Endpoint): Promise<void> {
    const { network } = this.#runtime;
    const serveUdp: Network["serveUdp"] = this.#options.serveUdp ?? ((options) => network.serveUdp(options));
    for (let tries = 1; ; tries++) {
      const udp = await serveUdp({
        ...endpoint,
        answer: answerProxied(this.#answer, this.#proxies),
        defer: this.#udpRequests.defer,
        onLost: () => this.counters.udpAnswersLost++,
      });
      try {
        this.tcp.push(
          await network.serveStreams({
            address: endpoint.address,
            port: udp.local.port,
            onConnection: (connection) => this.#sessions.accept(connection, "tcp"),
          }),
        );
        this.udp.push(udp);
        return;
      } catch (error) {
        await udp[Symbol.asyncDispose]();
        const isTaken = error instanceof NetworkError && error.code === "AddressInUse";
        if (!isTaken || endpoint.port !== 0 || tries === freePortTriesMax) throw error;
      }
    }
  }
}
