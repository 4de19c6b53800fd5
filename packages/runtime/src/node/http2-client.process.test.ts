import assert from "node:assert/strict";
import { once } from "node:events";
import type {
  Http2SecureServer,
  Http2Session,
  ServerHttp2Session,
  ServerHttp2Stream,
  Settings,
} from "node:http2";
import { constants, createSecureServer } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { connect, createServer } from "node:net";
import { after, describe, it } from "node:test";

import { collect, toText } from "../contracts/contract-subject.ts";
import { NodeHttpClient } from "./node-http-client.ts";
import { createTestCertificates } from "./testdata/test-certificates.ts";

const certificates = await createTestCertificates();
const tls = { caPem: certificates.caPem };

describe("the HTTP/2 client", () => {
  it("fails the streams of a peer that does not answer a PING, and connects anew", async () => {
    const server = await startServer((stream) => {
      stream.respond({ ":status": 200 });
      if (stream.id === 1 && sessions(server) === 1) stream.write("open");
      else stream.end("done");
    });
    const proxy = await startProxy(portOf(server));
    await using client = new NodeHttpClient(
      { origin: `https://127.0.0.1:${proxy.port}`, tls },
      { silenceMs: 50, answerMs: 1_000 },
    );
    const { body } = await client.request({ method: "GET", target: "/watch" });
    await assert.rejects(
      async () => {
        for await (const chunk of body) if (chunk.length > 0) proxy.freeze();
      },
      { name: "NetworkError", code: "Timeout" },
    );
    const response = await client.request({ method: "GET", target: "/" });
    assert.equal(toText(await collect(response.body)), "done");
  });

  it("keeps a silent stream of a peer that answers its PINGs", async () => {
    let pings = 0;
    const server = await startServer((stream) => {
      stream.session?.on("ping", () => {
        pings++;
        if (pings === 3) stream.end("still here");
      });
      stream.respond({ ":status": 200 });
    });
    await using client = new NodeHttpClient(
      { origin: originOf(server), tls },
      { silenceMs: 20, answerMs: 5_000 },
    );
    const { body } = await client.request({ method: "GET", target: "/watch" });
    assert.equal(toText(await collect(body)), "still here");
  });

  it("finishes the old streams of a connection that says GOAWAY, and opens new ones elsewhere", async () => {
    let watch: ServerHttp2Stream | undefined;
    let goneAway: Promise<void> | undefined;
    const server = await startServer((stream, path) => {
      stream.respond({ ":status": 200 });
      if (path === "/watch") {
        watch = stream;
        stream.write("open ");
      } else {
        if (path === "/goaway") goneAway = goAway(stream.session!);
        stream.end(path);
      }
    });
    await using client = new NodeHttpClient({ origin: originOf(server), tls });
    const { body } = await client.request({ method: "GET", target: "/watch" });
    for (const target of ["/goaway", "/after"]) {
      const response = await client.request({ method: "GET", target });
      assert.equal(toText(await collect(response.body)), target);
      await goneAway;
    }
    assert.equal(sessions(server), 2);
    watch?.end("and closed");
    assert.equal(toText(await collect(body)), "open and closed");
  });

  it("ends with all its connections, those that drain included", async () => {
    const closed: Promise<unknown>[] = [];
    let goneAway: Promise<void> | undefined;
    const server = await startServer((stream, path) => {
      stream.respond({ ":status": 200 });
      if (path === "/watch") {
        closed.push(once(stream.session!, "close"));
        stream.write("open");
        goneAway = goAway(stream.session!);
      } else stream.end("done");
    });
    const client = new NodeHttpClient({ origin: originOf(server), tls });
    for (let connections = 1; connections <= 3; connections++) {
      await client.request({ method: "GET", target: "/watch" });
      await goneAway;
    }
    assert.equal(sessions(server), 3);
    await client[Symbol.asyncDispose]();
    await Promise.all(closed);
  });

  it("sends a request again that the server has refused to look at", async () => {
    let refused = 0;
    const server = await startServer((stream) => {
      if (refused++ < 2) return stream.close(constants.NGHTTP2_REFUSED_STREAM);
      stream.respond({ ":status": 200 });
      stream.end("third time");
    });
    await using client = new NodeHttpClient({ origin: originOf(server), tls });
    const response = await client.request({ method: "POST", target: "/", body: Buffer.from("once") });
    assert.equal(toText(await collect(response.body)), "third time");
    refused = -100;
    await assert.rejects(client.request({ method: "POST", target: "/" }), { code: "Closed" });
  });

  it("sends a GET again over a kept connection that broke, but no POST", async () => {
    const server = await startServer((stream, path) => {
      if (path === "/break" && sessions(server) === 1) return stream.session?.destroy();
      stream.respond({ ":status": 200 });
      return stream.end(path);
    });
    await using client = new NodeHttpClient({ origin: originOf(server), tls });
    await collect((await client.request({ method: "GET", target: "/" })).body);
    const response = await client.request({ method: "GET", target: "/break" });
    assert.equal(toText(await collect(response.body)), "/break");

    const other = await startServer((stream, path) => {
      if (path === "/break") return stream.session?.destroy();
      stream.respond({ ":status": 200 });
      return stream.end(path);
    });
    await using otherClient = new NodeHttpClient({ origin: originOf(other), tls });
    await collect((await otherClient.request({ method: "GET", target: "/" })).body);
    await assert.rejects(otherClient.request({ method: "POST", target: "/break" }), { code: "Broken" });
  });

  it("asks on another connection after an answer to a body that the server did not read", async () => {
    let watch: ServerHttp2Stream | undefined;
    const server = await startServer((stream, path) => {
      stream.respond({ ":status": path === "/large" ? 413 : 200 });
      if (path === "/watch") {
        watch = stream;
        stream.write("open ");
      } else {
        stream.end(path);
        if (path === "/large") setImmediate(() => stream.close(constants.NGHTTP2_NO_ERROR));
      }
    });
    await using client = new NodeHttpClient({ origin: originOf(server), tls });
    const watched = await client.request({ method: "GET", target: "/watch" });
    const large = Buffer.alloc(8 * 1024 * 1024);
    for (let round = 0; round < 40; round++) {
      const response = await client.request({ method: "PUT", target: "/large", body: large });
      assert.equal(toText(await collect(response.body)), "/large");
    }
    const small = await client.request({ method: "GET", target: "/small" });
    assert.equal(toText(await collect(small.body)), "/small");
    watch?.end("and closed");
    assert.equal(toText(await collect(watched.body)), "open and closed");
  });

  it("does not take a body for whole that was cancelled", async () => {
    const server = await startServer((stream) => {
      stream.respond({ ":status": 200 });
      stream.write("half".repeat(500_000)); // more than fits, so that nothing ends the stream before its reset
      stream.close(constants.NGHTTP2_CANCEL);
    });
    await using client = new NodeHttpClient({ origin: originOf(server), tls });
    const { body } = await client.request({ method: "GET", target: "/" });
    await assert.rejects(collect(body), { name: "NetworkError", code: "Broken" });
  });

  it("opens another connection where the server lets no more streams on the one", async () => {
    const server = await startServer(
      (stream, path) => {
        stream.respond({ ":status": 200 });
        if (path === "/watch") stream.write("open");
        else stream.end("done");
      },
      { maxConcurrentStreams: 3 },
    );
    await using client = new NodeHttpClient({ origin: originOf(server), tls });
    const stop = new AbortController();
    const watches = await Promise.all(
      Array.from({ length: 7 }, () =>
        client.request({ method: "GET", target: "/watch", signal: stop.signal }),
      ),
    );
    assert.deepEqual(new Set(watches.map(({ status }) => status)), new Set([200]));
    assert.equal(sessions(server), 3);
    const response = await client.request({ method: "GET", target: "/" });
    assert.equal(toText(await collect(response.body)), "done");
    assert.equal(sessions(server), 3);
    stop.abort(new Error("enough"));
  });

  it("does not trust a server of another CA, and says so", async () => {
    const server = await startServer((stream) => stream.close());
    await using client = new NodeHttpClient({ origin: originOf(server) });
    await assert.rejects(client.request({ method: "GET", target: "/" }), {
      code: "Broken",
      message: /certificate was not accepted; check the CA/,
    });
    await using lax = new NodeHttpClient({ origin: originOf(server), tls: { insecureSkipVerify: true } });
    await assert.rejects(lax.request({ method: "GET", target: "/" }), { code: "Broken", message: /broke/ });
  });

  it("checks the certificate's name against the asked server name", async () => {
    const server = await startServer((stream) => {
      stream.respond({ ":status": 200 });
      stream.end();
    });
    await using right = new NodeHttpClient({
      origin: originOf(server),
      tls: { ...tls, serverName: "localhost" },
    });
    assert.equal((await right.request({ method: "GET", target: "/" })).status, 200);
    await using wrong = new NodeHttpClient({
      origin: originOf(server),
      tls: { ...tls, serverName: "elsewhere" },
    });
    await assert.rejects(wrong.request({ method: "GET", target: "/" }), {
      code: "Broken",
      message: /certificate/,
    });
  });
});

const cleanups: (() => void)[] = [];
after(() => {
  for (const cleanup of cleanups) cleanup();
});

const sessionCounts = new Map<Http2SecureServer, number>();

async function startServer(
  answer: (stream: ServerHttp2Stream, path: string) => unknown,
  settings: Settings = {},
): Promise<Http2SecureServer> {
  const { certificatePem: cert, privateKeyPem: key } = certificates.server;
  const server = createSecureServer({ cert, key, settings });
  const open = new Set<ServerHttp2Session>();
  server.on("session", (session) => {
    open.add(session);
    session.on("error", () => {});
    sessionCounts.set(server, (sessionCounts.get(server) ?? 0) + 1);
  });
  server.on("stream", (stream, headers) => {
    stream.on("error", () => {});
    answer(stream, String(headers[":path"]));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(() => {
    server.close();
    for (const session of open) session.destroy();
  });
  return server;
}

/**
 * Says GOAWAY, and resolves once the client has heard of it, which may be behind the answer: frames are read in their
 * order, and the PING that follows is answered.
 */
function goAway(session: Http2Session): Promise<void> {
  session.goaway(constants.NGHTTP2_NO_ERROR);
  return new Promise((resolve, reject) => {
    session.ping((error) => (error === null ? resolve() : reject(error)));
  });
}

function sessions(server: Http2SecureServer): number {
  return sessionCounts.get(server) ?? 0;
}

function portOf(server: Http2SecureServer): number {
  return (server.address() as AddressInfo).port;
}

function originOf(server: Http2SecureServer): string {
  return `https://127.0.0.1:${portOf(server)}`;
}

/** Forwards connections; `freeze` makes those that are open forward nothing any more, without closing them. */
async function startProxy(to: number): Promise<{ readonly port: number; freeze(): void }> {
  const pairs: (readonly [Socket, Socket])[] = [];
  const proxy = createServer((near) => {
    const far = connect(to, "127.0.0.1");
    for (const socket of [near, far]) socket.on("error", () => {});
    near.pipe(far);
    far.pipe(near);
    pairs.push([near, far]);
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  cleanups.push(() => {
    proxy.close();
    for (const socket of pairs.flat()) socket.destroy();
  });
  const freeze = (): void => {
    for (const [near, far] of pairs.splice(0)) {
      near.unpipe(far).pause();
      far.unpipe(near).pause();
      cleanups.push(() => [near, far].forEach((socket) => socket.destroy()));
    }
  };
  return { port: (proxy.address() as AddressInfo).port, freeze };
}
