import type { Socket } from "node:net";
import { isIP } from "node:net";
import type { ConnectionOptions, TLSSocket } from "node:tls";
import { connect } from "node:tls";

import type { HttpClientOptions } from "../network.ts";
import { NetworkError } from "../network.ts";
import { openTunnel } from "./proxy-tunnel.ts";

/** Long enough for any network that works; a connection that opened later than this is of no use to a watch. */
const connectTimeoutMs = 10_000;

/** Opens a TLS connection that offers these protocols, through the proxy where there is one. */
export async function connectTls(
  options: HttpClientOptions,
  signal: AbortSignal,
  protocols: readonly string[] = ["h2", "http/1.1"],
): Promise<TLSSocket> {
  const { proxyUrl } = options;
  const tunnel = proxyUrl === undefined ? undefined : await connectTunnel(options, signal);
  try {
    return await withinTime(options, signal, (bound) =>
      shakeHands(options, { tunnel, protocols, signal: bound }),
    );
  } catch (error) {
    tunnel?.destroy();
    throw error;
  }
}

/** Opens a connection to the origin through the proxy that the options name. */
export function connectTunnel(
  options: HttpClientOptions & { readonly proxyUrl?: string },
  signal: AbortSignal,
): Promise<Socket> {
  return withinTime(options, signal, (bound) =>
    openTunnel(options.proxyUrl ?? "", { ...hostAndPort(options.origin), caPem: options.tls?.caPem }, bound),
  );
}

interface Handshake {
  readonly tunnel: Socket | undefined;
  readonly protocols: readonly string[];
  readonly signal: AbortSignal;
}

function shakeHands(
  options: HttpClientOptions,
  { tunnel, protocols, signal }: Handshake,
): Promise<TLSSocket> {
  const { hostname, port } = hostAndPort(options.origin);
  const socket = connect({
    host: hostname,
    port,
    ...(tunnel === undefined ? {} : { socket: tunnel }),
    ALPNProtocols: [...protocols],
    ...tlsOptions(options),
  });
  socket.setNoDelay(true);
  socket.setKeepAlive(true, 15_000);
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void): void => {
      signal.removeEventListener("abort", onAbort);
      socket.removeListener("error", onError);
      settle();
    };
    const fail = (reason: unknown): void => {
      finish(() => reject(reason));
      socket.on("error", () => {});
      socket.destroy();
    };
    const onAbort = (): void => fail(signal.reason);
    const onError = (error: Error): void => fail(error);
    signal.addEventListener("abort", onAbort, { once: true });
    socket.once("error", onError);
    socket.once("secureConnect", () => finish(() => resolve(socket)));
  });
}

/** Runs a step of a connection under the caller's signal and the time that such a step may take. */
async function withinTime<T>(
  { origin }: HttpClientOptions,
  signal: AbortSignal,
  step: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const bound = new AbortController();
  const onAbort = (): void => bound.abort(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  const timer = setTimeout(() => {
    const message = `cannot connect to ${origin}: no answer within ${connectTimeoutMs} ms; check that it runs and can be reached`;
    bound.abort(new NetworkError("Timeout", message));
  }, connectTimeoutMs);
  try {
    return await step(bound.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

/** The trust and identity of a client, in Node's terms. */
export function tlsOptions({ origin, tls }: HttpClientOptions): ConnectionOptions {
  const { hostname } = hostAndPort(origin);
  const serverName = tls?.serverName ?? (isIP(hostname) === 0 ? hostname : undefined);
  return {
    minVersion: "TLSv1.2",
    rejectUnauthorized: tls?.insecureSkipVerify !== true,
    ...(serverName === undefined ? {} : { servername: serverName }),
    ...(tls?.caPem === undefined ? {} : { ca: tls.caPem }),
    ...(tls?.certificatePem === undefined ? {} : { cert: tls.certificatePem }),
    ...(tls?.privateKeyPem === undefined ? {} : { key: tls.privateKeyPem }),
  };
}

/** Where an origin is, without the brackets of an IPv6 address. */
export function hostAndPort(origin: string): { readonly hostname: string; readonly port: number } {
  const url = new URL(origin);
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  return { hostname: url.hostname.replace(/^\[|\]$/g, ""), port };
}
