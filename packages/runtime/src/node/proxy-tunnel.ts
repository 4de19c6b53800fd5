import { request as requestPlain } from "node:http";
import { request as requestTls } from "node:https";
import type { Socket } from "node:net";
import { connect, isIP } from "node:net";
import { rootCertificates } from "node:tls";

import { ipv4FromText, ipv6FromText } from "../ip-address.ts";
import { NetworkError } from "../network.ts";

/** Where a tunnel ends, and who may vouch for a proxy on the way, beside those whom the system trusts. */
export interface TunnelEnd {
  readonly hostname: string;
  readonly port: number;
  readonly caPem?: string | undefined;
}

/**
 * Opens a connection to `to` through a proxy: by CONNECT (RFC 9110 §9.3.6) through `http:` and `https:` ones, by SOCKS 5
 * (RFC 1928, RFC 1929) through others. Names are looked up by the proxy.
 *
 * @throws NetworkError when the proxy refuses; Node's error, or the signal's reason, when it cannot be reached
 */
export async function openTunnel(proxyUrl: string, to: TunnelEnd, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted();
  const proxy = new URL(proxyUrl);
  const isSocks = proxy.protocol.startsWith("socks5");
  const socket = await (isSocks ? openBySocks(proxy, to, signal) : openByConnect(proxy, to, signal));
  socket.setNoDelay(true);
  socket.setKeepAlive(true, 15_000);
  return socket;
}

function openByConnect(proxy: URL, to: TunnelEnd, signal: AbortSignal): Promise<Socket> {
  const target = `${isIP(to.hostname) === 6 ? `[${to.hostname}]` : to.hostname}:${to.port}`;
  const send = proxy.protocol === "https:" ? requestTls : requestPlain;
  const { user, password } = loginOf(proxy);
  const login = Buffer.from(`${user}:${password}`).toString("base64");
  return new Promise((resolve, reject) => {
    const outgoing = send({
      agent: false,
      ...(to.caPem === undefined ? {} : { ca: [...rootCertificates, to.caPem] }),
      host: hostOf(proxy),
      port: portOf(proxy),
      method: "CONNECT",
      path: target,
      headers: { host: target, ...(user === "" ? {} : { "proxy-authorization": `Basic ${login}` }) },
      signal,
    });
    outgoing.once("connect", (response, socket: Socket, head: Buffer) => {
      if (response.statusCode === 200) {
        if (head.length > 0) socket.unshift(head);
        return resolve(socket);
      }
      socket.destroy();
      return reject(
        refused(proxy, target, `HTTP ${response.statusCode} ${response.statusMessage ?? ""}`.trim()),
      );
    });
    outgoing.once("response", (response) => {
      response.destroy();
      reject(refused(proxy, target, `HTTP ${response.statusCode}`));
    });
    outgoing.on("error", (error) => reject(signal.aborted ? signal.reason : error));
    outgoing.end();
  });
}

const socksVersion = 5;
const socksFailures: readonly string[] = [
  "",
  "a failure of the proxy",
  "not allowed",
  "network unreachable",
  "host unreachable",
  "connection refused",
  "time to live exceeded",
  "command not supported",
  "address type not supported",
];

async function openBySocks(proxy: URL, to: TunnelEnd, signal: AbortSignal): Promise<Socket> {
  const socket = connect({ host: hostOf(proxy), port: portOf(proxy), signal });
  const reader = new SocketReader(socket);
  const target = `${to.hostname}:${to.port}`;
  try {
    const { user, password } = loginOf(proxy);
    // Methods: 0 is nobody, 2 is name and password.
    socket.write(user === "" ? Buffer.of(socksVersion, 1, 0) : Buffer.of(socksVersion, 2, 0, 2));
    const [version, method] = await reader.read(2);
    if (version !== socksVersion) throw refused(proxy, target, "no SOCKS 5");
    if (method === 2) {
      const [name, word] = [Buffer.from(user), Buffer.from(password)];
      socket.write(Buffer.concat([Buffer.of(1, name.length), name, Buffer.of(word.length), word]));
      const [, status] = await reader.read(2);
      if (status !== 0) throw refused(proxy, target, "the name or the password is wrong");
    } else if (method !== 0) {
      throw refused(proxy, target, "it wants to know who asks; put user:password@ before its address");
    }
    const port = Buffer.of(to.port >> 8, to.port & 0xff);
    socket.write(Buffer.concat([Buffer.of(socksVersion, 1, 0), socksAddress(to.hostname), port]));
    const [, reply = 0, , kind] = await reader.read(4);
    if (reply !== 0) throw refused(proxy, target, socksFailures[reply] ?? `code ${reply}`);
    const addressLength = kind === 1 ? 4 : kind === 4 ? 16 : ((await reader.read(1))[0] ?? 0);
    await reader.read(addressLength + 2);
    reader.release();
    return socket;
  } catch (error) {
    socket.destroy();
    throw signal.aborted ? signal.reason : error;
  }
}

/** RFC 1928 §5: an address, or a name that the proxy looks up. */
function socksAddress(hostname: string): Buffer {
  const ipv4 = ipv4FromText(hostname);
  if (ipv4 !== undefined) return Buffer.of(1, ...ipv4);
  const ipv6 = ipv6FromText(hostname);
  if (ipv6 !== undefined) return Buffer.of(4, ...ipv6);
  const name = Buffer.from(hostname);
  return Buffer.concat([Buffer.of(3, name.length), name]);
}

/** Reads so many octets at a time. */
class SocketReader {
  readonly #socket: Socket;
  #failure: Error | undefined;
  #wake: () => void = () => {};
  readonly #onReadable = (): void => this.#wake();
  readonly #onError = (error: Error): void => this.#fail(error);
  readonly #onEnd = (): void => this.#fail(new NetworkError("Broken", "the proxy closed the connection"));

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("readable", this.#onReadable).on("error", this.#onError).on("end", this.#onEnd);
  }

  async read(length: number): Promise<Buffer> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      const octets = this.#socket.read(length) as Buffer | null;
      if (octets !== null) return octets;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** Leaves the socket to somebody else. */
  release(): void {
    this.#socket.off("readable", this.#onReadable).off("error", this.#onError).off("end", this.#onEnd);
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#wake();
  }
}

const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, "");
const defaultPorts: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };
const portOf = (url: URL): number => Number(url.port) || (defaultPorts[url.protocol] ?? 1080);

function loginOf(url: URL): { readonly user: string; readonly password: string } {
  return { user: decodeURIComponent(url.username), password: decodeURIComponent(url.password) };
}

/** Without name and password of the proxy. */
function refused(proxy: URL, target: string, said: string): NetworkError {
  const message = `the proxy ${proxy.protocol}//${proxy.host} does not connect to ${target}: ${said}; check the proxy and its exceptions`;
  return new NetworkError("Refused", message);
}
