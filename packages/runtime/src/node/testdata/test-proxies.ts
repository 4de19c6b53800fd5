import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo, Server, Socket } from "node:net";
import { connect, createServer } from "node:net";

import type { PemIdentity } from "./test-certificates.ts";

/** A proxy on loopback, and what it was asked for. */
export interface TestProxy extends AsyncDisposable {
  readonly port: number;
  /** `host:port` of each connection that was asked for, with the name and password that came along. */
  readonly asked: string[];
}

/** Takes CONNECT; refuses by 407 where `login` is set and does not come along. */
export async function startConnectProxy(
  options: { readonly login?: string; readonly tls?: PemIdentity } = {},
): Promise<TestProxy> {
  const asked: string[] = [];
  const server =
    options.tls === undefined
      ? createHttpServer()
      : createHttpsServer({ cert: options.tls.certificatePem, key: options.tls.privateKeyPem });
  server.on("connect", (request, near: Socket) => {
    const login = Buffer.from(String(request.headers["proxy-authorization"] ?? "").slice(6), "base64").toString();
    asked.push(`${login === "" ? "" : `${login}@`}${request.url ?? ""}`);
    near.on("error", () => {});
    if (options.login !== undefined && login !== options.login) {
      near.end("HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n");
      return;
    }
    const { hostname, port } = new URL(`http://${request.url ?? ""}`);
    join(near, { hostname, port: Number(port) }, () => near.write("HTTP/1.1 200 OK\r\n\r\n"));
  });
  return listening(server, asked);
}

/** Speaks SOCKS 5 with names and addresses; with `login`, only to those who have it. */
export async function startSocksProxy(options: { readonly login?: string } = {}): Promise<TestProxy> {
  const asked: string[] = [];
  const server = createServer((near) => {
    near.on("error", () => {});
    void serveSocks(near, asked, options.login).catch(() => near.destroy());
  });
  return listening(server, asked);
}

async function serveSocks(near: Socket, asked: string[], login: string | undefined): Promise<void> {
  const read = async (length: number): Promise<Buffer> => {
    for (;;) {
      const octets = near.read(length) as Buffer | null;
      if (octets !== null) return octets;
      await once(near, "readable");
    }
  };
  const [, count = 0] = await read(2);
  const methods = await read(count);
  if (login !== undefined && !methods.includes(2)) {
    near.end(Buffer.of(5, 0xff));
    return;
  }
  near.write(Buffer.of(5, login === undefined ? 0 : 2));
  let who = "";
  if (login !== undefined) {
    const [, nameLength = 0] = await read(2);
    const name = (await read(nameLength)).toString();
    const [wordLength = 0] = await read(1);
    who = `${name}:${(await read(wordLength)).toString()}`;
    near.write(Buffer.of(1, who === login ? 0 : 1));
    if (who !== login) {
      near.end();
      return;
    }
  }
  const [, , , kind] = await read(4);
  const [nameLength = 0] = kind === 3 ? await read(1) : [];
  const host = await read(kind === 1 ? 4 : kind === 4 ? 16 : nameLength);
  const hostname = kind === 1 ? host.join(".") : host.toString();
  const port = (await read(2)).readUInt16BE();
  asked.push(`${who === "" ? "" : `${who}@`}${hostname}:${port}`);
  join(near, { hostname, port }, () => near.write(Buffer.of(5, 0, 0, 1, 0, 0, 0, 0, 0, 0)));
}

function join(near: Socket, to: { hostname: string; port: number }, onOpen: () => void): void {
  const far = connect(to.port, to.hostname, () => {
    onOpen();
    near.pipe(far);
    far.pipe(near);
  });
  far.on("error", () => near.destroy());
  near.on("close", () => far.destroy());
}

async function listening(server: Server, asked: string[]): Promise<TestProxy> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
