import {
  NetworkError,
  type Endpoint,
  type Runtime,
  type TcpListener,
  type UdpServer,
} from "@meridian/runtime";
import type { Authority } from "./authority.ts";
import { TcpSessions, type TcpCounters } from "./tcp-sessions.ts";

/** What to serve, where, and within which limits. */
export interface ServeDnsOptions {
  readonly authority: Authority;
  /** Each is served over UDP and TCP. With port 0 both get the same free port. */
  readonly listen: readonly Endpoint[];
  /** A TCP connection without a question for this long is closed. Default 30,000. */
  readonly tcpIdleMs?: number;
  /** At this many, the longest idle connection is closed for a new one. Default 1,000 over all endpoints. */
  readonly tcpConnectionsMax?: number;
  /** How long open TCP connections may finish at close. Default 1,000. */
  readonly closeGraceMs?: number;
}

/** Numbers of the listeners; those of the answers are the authority's. */
export type DnsServerCounters = TcpCounters;

/** Running listeners. Disposing it stops accepting, sends the answers that are due, then closes. */
export interface DnsServer extends AsyncDisposable {
  /** As bound, in the order of `listen`. */
  readonly local: readonly Endpoint[];
  readonly counters: Readonly<DnsServerCounters>;
}

interface Listener {
  readonly udp: UdpServer;
  readonly tcp: TcpListener;
}

/** A port that is free for UDP may be taken for TCP; then the next free one is tried. */
const freePortTriesMax = 20;

/**
 * Serves an authority over UDP and TCP.
 *
 * @throws NetworkError when an endpoint cannot be bound; those already bound are closed again
 */
export async function serveDns(runtime: Runtime, options: ServeDnsOptions): Promise<DnsServer> {
  const { authority, listen, closeGraceMs = 1_000 } = options;
  const sessions = new TcpSessions(runtime, {
    answer: authority.answer,
    idleMs: options.tcpIdleMs ?? 30_000,
    sessionsMax: options.tcpConnectionsMax ?? 1_000,
  });
  const listeners: Listener[] = [];
  try {
    for (const endpoint of listen) listeners.push(await bind(runtime, { authority, sessions, endpoint }));
  } catch (error) {
    await closeAll(listeners);
    throw error;
  }
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    // UDP first: it has nothing in flight. The TCP ports close with their last connection.
    await Promise.all(listeners.map(({ udp }) => udp[Symbol.asyncDispose]()));
    await sessions.drain(closeGraceMs);
    await Promise.all(listeners.map(({ tcp }) => tcp[Symbol.asyncDispose]()));
  };
  return {
    local: listeners.map(({ udp }) => udp.local),
    counters: sessions.counters,
    [Symbol.asyncDispose]: () => (closing ??= close()),
  };
}

async function bind(
  runtime: Runtime,
  options: { readonly authority: Authority; readonly sessions: TcpSessions; readonly endpoint: Endpoint },
): Promise<Listener> {
  const { authority, sessions, endpoint } = options;
  for (let tries = 1; ; tries++) {
    const udp = await runtime.network.serveUdp({ ...endpoint, answer: authority.answer });
    try {
      const tcp = await runtime.network.listenTcp({
        address: endpoint.address,
        port: udp.local.port,
        onConnection: (connection) => sessions.accept(connection),
      });
      return { udp, tcp };
    } catch (error) {
      await udp[Symbol.asyncDispose]();
      const isTaken = error instanceof NetworkError && error.code === "AddressInUse";
      if (!isTaken || endpoint.port !== 0 || tries === freePortTriesMax) throw error;
    }
  }
}

async function closeAll(listeners: readonly Listener[]): Promise<void> {
  await Promise.all(
    listeners.flatMap(({ udp, tcp }) => [udp[Symbol.asyncDispose](), tcp[Symbol.asyncDispose]()]),
  );
}
