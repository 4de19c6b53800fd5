import { isIP } from "node:net";
import type { ConnectionOptions, TLSSocket } from "node:tls";
import { connect } from "node:tls";

import type { HttpClientOptions } from "../network.ts";
import { NetworkError } from "../network.ts";

/** Long enough for any network that works; a connection that opened later than this is of no use to a watch. */
const connectTimeoutMs = 10_000;

/** Opens a TLS connection that offers HTTP/2 and HTTP/1.1. */
export function connectTls(options: HttpClientOptions, signal: AbortSignal): Promise<TLSSocket> {
  const { hostname, port } = hostAndPort(options.origin);
  const socket = connect({
    host: hostname,
    port,
    ALPNProtocols: ["h2", "http/1.1"],
    ...tlsOptions(options),
  });
  socket.setNoDelay(true);
  socket.setKeepAlive(true, 30_000);
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void): void => {
      clearTimeout(timer);
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
    const timer = setTimeout(() => {
      const message = `cannot connect to ${options.origin}: no answer within ${connectTimeoutMs} ms; check that it runs and can be reached`;
      fail(new NetworkError("Timeout", message));
    }, connectTimeoutMs);
    signal.addEventListener("abort", onAbort, { once: true });
    socket.once("error", onError);
    socket.once("secureConnect", () => finish(() => resolve(socket)));
  });
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
