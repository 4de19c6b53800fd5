import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, request as requestTls } from "node:https";
import { connect as connectHttp2, constants } from "node:http2";
import { connect } from "node:net";
import { describe, it } from "node:test";

import { collect, toBytes, toText } from "../contracts/contract-subject.ts";
import { silentLogger } from "../logger.ts";
import type {
  HttpClientOptions,
  HttpHandler,
  HttpServer,
  HttpServerOptions,
  TlsServerIdentity,
} from "../network.ts";
import { NodeHttpClient } from "./node-http-client.ts";
import { serveNodeHttp } from "./node-http-server.ts";
import type { PemIdentity } from "./testdata/test-certificates.ts";
import { createTestCertificates } from "./testdata/test-certificates.ts";

const certificates = await createTestCertificates();

describe("the HTTPS server", () => {
  it("speaks HTTP/1.1 to who does not offer HTTP/2", async () => {
    await using server = await serve(whoAmI, certificates.server);
    assert.equal(await askHttp1(server), "nobody");
  });

  const clients: readonly { name: string; identity?: PemIdentity; answer: string }[] = [
    {
      name: "knows a client by its certificate",
      identity: certificates.client,
      answer: "ada of engineers, mathematicians",
    },
    { name: "knows nobody without a certificate", answer: "nobody" },
    {
      name: "knows nobody whose certificate another CA has signed",
      identity: certificates.stranger,
      answer: "nobody",
    },
  ];
  for (const { name, identity, answer } of clients) {
    it(`${name}, over HTTP/2 and HTTP/1.1`, async () => {
      await using server = await serve(whoAmI, { ...certificates.server, clientCaPem: certificates.caPem });
      await using client = openClient(server, { caPem: certificates.caPem, ...identity });
      for (let i = 0; i < 2; i++) {
        const { body } = await client.request({ method: "GET", target: "/" });
        assert.equal(toText(await collect(body)), answer);
      }
      assert.equal(await askHttp1(server, identity), answer);
    });
  }

  it("ignores client certificates when it has no CA for them", async () => {
    await using server = await serve(whoAmI, certificates.server);
    await using client = openClient(server, { caPem: certificates.caPem, ...certificates.client });
    const { body } = await client.request({ method: "GET", target: "/" });
    assert.equal(toText(await collect(body)), "nobody");
  });

  it("lives through garbage, half a handshake and vanishing clients", async () => {
    await using server = await serve(whoAmI, certificates.server);
    for (const text of ["GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01", "\0".repeat(1000), ""]) {
      const socket = connect(server.local.port, server.local.address);
      socket.on("error", () => {});
      await once(socket, "connect");
      socket.write(text);
      // What came before this connection was read before it.
      assert.equal(await askHttp1(server), "nobody");
      socket.resetAndDestroy();
    }
    assert.equal(await askHttp1(server), "nobody");
  });

  it("refuses headers without measure and goes on", async () => {
    await using server = await serve(whoAmI, certificates.server);
    await using client = openClient(server, { caPem: certificates.caPem });
    const headers = { "x-large": "x".repeat(100_000) };
    const outcome = await client.request({ method: "GET", target: "/", headers }).then(
      (response) => response.status,
      (error: unknown) => error,
    );
    assert.notEqual(outcome, 200);
    const { body } = await client.request({ method: "GET", target: "/" });
    assert.equal(toText(await collect(body)), "nobody");
  });

  it("ends a stream whose body grows over the limit, after it has answered", async () => {
    await using server = await serve(whoAmI, certificates.server);
    const session = connectHttp2(`https://127.0.0.1:${server.local.port}`, { ca: certificates.caPem });
    session.on("error", () => {});
    const stream = session.request({ ":path": "/", ":method": "POST" });
    stream.on("error", () => {});
    const answered = new Promise((resolve) => stream.once("response", (head) => resolve(head[":status"])));
    stream.resume();
    const closed = new Promise((resolve) => stream.once("close", resolve));
    stream.write("x".repeat(900));
    stream.write("x".repeat(900));
    assert.equal(await answered, 413);
    await closed;
    session.destroy();
  });

  it("ends a stream whose body stalls, and serves the others of its connection", async () => {
    await using server = await serve(whoAmI, certificates.server, { requestMs: 100 });
    const session = connectHttp2(`https://127.0.0.1:${server.local.port}`, { ca: certificates.caPem });
    session.on("error", () => {});
    const stalled = session.request({ ":path": "/", ":method": "POST" });
    stalled.on("error", () => {});
    stalled.resume();
    stalled.write("x");
    await new Promise((resolve) => stalled.once("close", resolve));
    const other = session.request({ ":path": "/" });
    const [head] = (await once(other, "response")) as [Record<string, unknown>];
    assert.equal(head[":status"], 200);
    session.destroy();
  });

  it("closes an HTTP/2 connection that falls silent where it is told to", async () => {
    await using server = await serve(whoAmI, certificates.server, { idleMs: 100 });
    const session = connectHttp2(`https://127.0.0.1:${server.local.port}`, { ca: certificates.caPem });
    session.on("error", () => {});
    await new Promise((resolve) => session.once("close", resolve));
  });

  it("closes the connection that is idle longest for a newcomer, and refuses it where all are in use", async () => {
    const held: (() => void)[] = [];
    let onBothHeld: () => void;
    const bothHeld = new Promise<void>((resolve) => (onBothHeld = resolve));
    const handler: HttpHandler = async ({ target }) => {
      if (target === "/hold") {
        await new Promise<void>((resolve) => {
          if (held.push(resolve) === 2) onBothHeld();
        });
      }
      return { status: 200, headers: {}, body: new Uint8Array() };
    };
    await using server = await serve(handler, certificates.server, { connectionsMax: 2 });
    const open = () => {
      const session = connectHttp2(`https://127.0.0.1:${server.local.port}`, { ca: certificates.caPem });
      session.on("error", () => {});
      const closed = new Promise((resolve) => session.once("close", resolve));
      const ask = async (path: string): Promise<void> => {
        const stream = session.request({ ":path": path });
        stream.resume();
        await once(stream, "response");
        await once(stream, "close");
      };
      return { session, closed, ask };
    };
    const first = open();
    await first.ask("/");
    const second = open();
    await second.ask("/");
    await first.ask("/");
    const third = open();
    await third.ask("/");
    await second.closed;
    const asked = [first.ask("/hold"), third.ask("/hold")];
    await bothHeld;
    const refused = open();
    await refused.closed;
    for (const release of held) release();
    await Promise.all(asked);
    first.session.destroy();
    third.session.destroy();
  });

  it("does not serve a connection that opens and resets streams without measure", async () => {
    let asked = 0;
    const handler: HttpHandler = async () => {
      asked++;
      return { status: 200, headers: {}, body: new Uint8Array() };
    };
    await using server = await serve(handler, certificates.server);
    const session = connectHttp2(`https://127.0.0.1:${server.local.port}`, { ca: certificates.caPem });
    session.on("error", () => {});
    await once(session, "connect");
    for (let sent = 0; sent < 5_000 && !session.destroyed; sent++) {
      const stream = session.request({ ":path": "/" });
      stream.on("error", () => {});
      const closed = new Promise((resolve) => stream.once("close", resolve));
      stream.close(constants.NGHTTP2_CANCEL);
      if (sent % 100 === 99) await closed;
    }
    session.destroy();
    await using client = openClient(server, { caPem: certificates.caPem });
    await collect((await client.request({ method: "GET", target: "/" })).body);
    assert.ok(asked < 2_000, `${asked} of 5000 requests got through`);
  });
});

describe("the HTTP server in the clear", () => {
  it("tells the client's address, and the host asked for", async () => {
    const handler: HttpHandler = async ({ client, headers }) => ({
      status: 200,
      headers: {},
      body: toBytes(`${client.address} asks ${headers["host"]}`),
    });
    await using server = await serve(handler);
    await using client = openClient(server);
    const { body } = await client.request({ method: "GET", target: "/" });
    assert.equal(toText(await collect(body)), `127.0.0.1 asks 127.0.0.1:${server.local.port}`);
  });

  it("answers 413 to a client that reads nothing before it has sent all", async () => {
    await using server = await serve(whoAmI);
    for (const sizeBytes of [2_000, 8 * 1024 * 1024]) {
      const socket = connect(server.local.port, server.local.address);
      socket.write(`POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${sizeBytes}\r\n\r\n`);
      await new Promise((resolve) => socket.write(new Uint8Array(sizeBytes), resolve));
      assert.match(
        toText(await collect(socket as AsyncIterable<Uint8Array>)),
        /^HTTP\/1.1 413 .*larger than 1000/s,
      );
    }
  });

  it("ends a connection that would send a body without measure", async () => {
    await using server = await serve(whoAmI);
    const socket = connect(server.local.port, server.local.address);
    socket.on("error", () => {});
    socket.write("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999999\r\n\r\n");
    assert.match(
      toText(await collect(socket as AsyncIterable<Uint8Array>)),
      /^HTTP\/1.1 413 .*connection: close/is,
    );
  });

  it("ends a connection that sends requests without measure before it has their answers", async () => {
    let underWay = 0;
    const handler: HttpHandler = async ({ signal }) => {
      underWay++;
      await once(signal, "abort");
      return { status: 204, headers: {}, body: new Uint8Array() };
    };
    await using server = await serveNodeHttp(
      { address: "127.0.0.1", port: 0, handler, bodyBytesMax: 10, streamsMax: 20 },
      silentLogger,
    );
    const socket = connect(server.local.port, "127.0.0.1");
    socket.on("error", () => {});
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.resume().write("GET / HTTP/1.1\r\nhost: x\r\n\r\n".repeat(5_000));
    await closed;
    assert.equal(underWay, 20);
  });

  it("closes without waiting for its grace time although a kept connection idles", async (context) => {
    const server = await serve(whoAmI);
    await using client = openClient(server);
    await collect((await client.request({ method: "GET", target: "/" })).body);
    // The grace time never ends: who waits for it waits for ever.
    context.mock.timers.enable({ apis: ["setTimeout"] });
    await server[Symbol.asyncDispose]();
    context.mock.timers.reset();
  });
});

const whoAmI: HttpHandler = async ({ clientCertificate: found }) => ({
  status: 200,
  headers: {},
  body: toBytes(found === undefined ? "nobody" : `${found.commonName} of ${found.organizations.join(", ")}`),
});

function serve(
  handler: HttpHandler,
  tls?: TlsServerIdentity,
  limits: Partial<Pick<HttpServerOptions, "requestMs" | "idleMs" | "connectionsMax">> = {},
): Promise<HttpServer> {
  const options = { address: "127.0.0.1", port: 0, bodyBytesMax: 1_000, handler, ...limits };
  return serveNodeHttp({ ...options, ...(tls === undefined ? {} : { tls }) }, silentLogger);
}

function openClient({ local }: HttpServer, tls?: HttpClientOptions["tls"]): NodeHttpClient {
  if (tls === undefined) return new NodeHttpClient({ origin: `http://${local.address}:${local.port}` });
  return new NodeHttpClient({ origin: `https://${local.address}:${local.port}`, tls });
}

async function askHttp1({ local }: HttpServer, identity?: PemIdentity): Promise<string> {
  const outgoing = requestTls({
    host: local.address,
    port: local.port,
    ca: certificates.caPem,
    agent: new Agent({ keepAlive: false }),
    ...(identity === undefined ? {} : { cert: identity.certificatePem, key: identity.privateKeyPem }),
  });
  outgoing.end();
  const [incoming] = (await once(outgoing, "response")) as [AsyncIterable<Uint8Array>];
  return toText(await collect(incoming));
}
