import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { createServer } from "node:net";
import { after, describe, it } from "node:test";

import { collect, toText } from "../contracts/contract-subject.ts";
import { NodeHttpClient } from "./node-http-client.ts";
import { createTestCertificates } from "./testdata/test-certificates.ts";

const servers: Server[] = [];
after(() => {
  for (const server of servers) server.close();
});

describe("the HTTP/1.1 client", () => {
  it("takes over where a TLS server does not offer HTTP/2", async () => {
    const certificates = await createTestCertificates();
    const { certificatePem: cert, privateKeyPem: key } = certificates.server;
    const server = createTlsServer({ cert, key }, (request, response) => {
      response.end(`${request.httpVersion} ${request.url}`);
    });
    const port = await listen(server);
    await using client = new NodeHttpClient({
      origin: `https://127.0.0.1:${port}`,
      tls: { caPem: certificates.caPem },
    });
    for (const target of ["/a", "/b"]) {
      const { body } = await client.request({ method: "GET", target });
      assert.equal(toText(await collect(body)), `1.1 ${target}`);
    }
    server.closeAllConnections();
  });

  it("fails where the server answers with a protocol that nobody asked for", async () => {
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () =>
        socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\nhello"),
      );
    });
    const port = await listen(server);
    await using client = new NodeHttpClient({ origin: `http://127.0.0.1:${port}` });
    await assert.rejects(client.request({ method: "GET", target: "/" }), { code: "Broken" });
  });

  it("sends a GET again when a kept connection was closed under it, but no POST", async () => {
    // Answers the first request of each connection, and breaks it at the second one.
    let broken = 0;
    const server = createServer((socket) => {
      let requests = 0;
      socket.on("error", () => {});
      socket.on("data", () => {
        requests++;
        if (requests === 1) return socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
        broken++;
        return socket.resetAndDestroy();
      });
    });
    const port = await listen(server);
    await using client = new NodeHttpClient({ origin: `http://127.0.0.1:${port}` });
    // A connection is kept from a moment on that nobody is told of: until then a request opens another one.
    const askUntilBroken = async (method: "GET" | "POST", times: number): Promise<void> => {
      broken = 0;
      for (let asked = 0; broken < times; asked++) {
        assert.ok(asked < 1_000, "no connection was ever kept");
        const { body } = await client.request({ method, target: "/" });
        assert.equal(toText(await collect(body)), "ok");
      }
    };
    await askUntilBroken("GET", 3);
    await assert.rejects(askUntilBroken("POST", 1), { name: "NetworkError", code: "Broken" });
  });

  it("survives a signal that aborts at whatever moment of an answer's end", async () => {
    const server = createHttpServer((_, response) => {
      response.write("a");
      setImmediate(() => response.end("b"));
    });
    const port = await listen(server);
    await using client = new NodeHttpClient({ origin: `http://127.0.0.1:${port}` });
    for (let turns = 0; turns < 60; turns++) {
      const controller = new AbortController();
      const { body } = await client.request({ method: "GET", target: "/", signal: controller.signal });
      const chunks = body[Symbol.asyncIterator]();
      await chunks.next();
      const rest = turns % 2 === 0 ? chunks.next() : undefined;
      rest?.catch(() => {});
      for (let turn = 0; turn < turns; turn++) {
        await (turn % 3 === 0 ? new Promise((resolve) => setImmediate(resolve)) : Promise.resolve());
      }
      controller.abort(new Error("enough"));
      await chunks.return?.().catch(() => {});
    }
    // An error that nobody listens for would have ended this process.
    const { body } = await client.request({ method: "GET", target: "/" });
    assert.equal(toText(await collect(body)), "ab");
  });

  it("does not take a body for whole that ends early", async () => {
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf"));
    });
    const port = await listen(server);
    await using client = new NodeHttpClient({ origin: `http://127.0.0.1:${port}` });
    const { body } = await client.request({ method: "GET", target: "/" });
    await assert.rejects(collect(body), { name: "NetworkError", code: "Broken" });
  });

  it("says when the peer does not speak HTTP", async () => {
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.end("220 mail.example.com ESMTP\r\n");
    });
    const port = await listen(server);
    for (const scheme of ["http", "https"]) {
      await using client = new NodeHttpClient({ origin: `${scheme}://127.0.0.1:${port}` });
      const attempt = client.request({ method: "GET", target: "/" });
      await assert.rejects(attempt, {
        name: "NetworkError",
        code: "Broken",
        message: /^cannot (ask|connect to) /,
      });
    }
  });
});

async function listen(server: Server): Promise<number> {
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}
