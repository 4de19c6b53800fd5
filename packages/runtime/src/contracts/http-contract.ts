import assert from "node:assert/strict";
import { describe, it } from "node:test";

import type {
  HttpClient,
  HttpClientOptions,
  HttpHandler,
  HttpRequest,
  HttpServer,
  TlsServerIdentity,
} from "../network.ts";
import { readBody } from "../network.ts";
import type { ContractNodes, ContractSubject } from "./contract-subject.ts";
import { Moment, collect, goRound, pattern, toBytes, toText, untilStill } from "./contract-subject.ts";

/** How server and client of the contract speak; plain where nothing is given. */
export interface HttpVariant {
  readonly name: string;
  readonly serverTls?: TlsServerIdentity;
  readonly clientTls?: HttpClientOptions["tls"];
}

/** What every network keeps for HTTP. */
export function describeHttp(subject: ContractSubject, variant: HttpVariant): void {
  const withServer = (handler: HttpHandler, body: (world: HttpWorld) => Promise<void>): Promise<void> =>
    subject.run(async (nodes) => {
      const world = await openWorld(nodes, variant, handler);
      try {
        await body(world);
      } finally {
        await world.client[Symbol.asyncDispose]();
        await world.server[Symbol.asyncDispose]();
      }
    });

  describe(`HTTP (${variant.name}) on ${subject.name}`, () => {
    it("hands the request over as it was sent", () => {
      let seen: HttpRequest | undefined;
      const handler: HttpHandler = async (request) => {
        seen = request;
        return { status: 201, headers: { "X-Answer": "Yes" }, body: toBytes("made") };
      };
      return withServer(handler, async ({ client, nodes }) => {
        const response = await client.request({
          method: "POST",
          target: "/a%2Fb?c=d&c=%20",
          headers: { "X-Question": "Well?", accept: "text/plain" },
          body: toBytes("body"),
        });
        assert.equal(response.status, 201);
        assert.equal(response.headers["x-answer"], "Yes");
        assert.equal(toText(await collect(response.body)), "made");
        assert.equal(seen?.method, "POST");
        assert.equal(seen.target, "/a%2Fb?c=d&c=%20");
        assert.equal(seen.headers["x-question"], "Well?");
        assert.equal(seen.headers["accept"], "text/plain");
        assert.equal(toText(seen.body), "body");
        assert.equal(seen.client.address, nodes.clientAddress);
        assert.equal(seen.signal.aborted, false);
      });
    });

    it("carries methods and bodies of all kinds", () =>
      withServer(describeRequest, async ({ client }) => {
        for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
          const { body } = await client.request({ method, target: "/" });
          assert.equal(toText(await collect(body)), `${method} / 0`);
          const withBody = await client.request({ method, target: "/x", body: toBytes("12345") });
          assert.equal(toText(await collect(withBody.body)), `${method} /x 5`);
        }
      }));

    it("carries an empty answer", () =>
      withServer(
        async () => ({ status: 204, headers: {}, body: new Uint8Array() }),
        async ({ client }) => {
          const response = await client.request({ method: "DELETE", target: "/" });
          assert.equal(response.status, 204);
          assert.equal((await collect(response.body)).length, 0);
        },
      ));

    it("carries big bodies both ways", () =>
      withServer(
        async (request) => ({ status: 200, headers: {}, body: request.body }),
        async ({ client }) => {
          const body = pattern(bodyBytesMax);
          const response = await client.request({ method: "PUT", target: "/", body });
          assert.deepEqual(new Uint8Array(await collect(response.body)), body);
        },
      ));

    it("answers 413 to a body over the limit, and goes on", () =>
      withServer(describeRequest, async ({ client }) => {
        const body = new Uint8Array(bodyBytesMax + 1);
        const response = await client.request({ method: "POST", target: "/", body });
        assert.equal(response.status, 413);
        assert.match(toText(await collect(response.body)), /larger than 1048576 bytes/);
        const next = await client.request({ method: "POST", target: "/", body: body.subarray(1) });
        assert.equal(toText(await collect(next.body)), "POST / 1048576");
      }));

    it("answers 500 when the handler rejects", () =>
      withServer(
        async () => {
          throw new Error("secret details");
        },
        async ({ client }) => {
          const response = await client.request({ method: "GET", target: "/" });
          assert.equal(response.status, 500);
          assert.doesNotMatch(toText(await collect(response.body)), /secret/);
        },
      ));

    it("serves many requests at once", () =>
      withServer(
        async (request) => {
          return { status: 200, headers: {}, body: toBytes(request.target) };
        },
        async ({ client }) => {
          const targets = Array.from({ length: 150 }, (_, i) => `/${i}`);
          const answers = await Promise.all(
            targets.map(async (target) => {
              const response = await client.request({ method: "GET", target });
              return toText(await collect(response.body));
            }),
          );
          assert.deepEqual(answers, targets);
        },
      ));

    it("sends the head before the first chunk, and each chunk when it comes", () => {
      const headSeen = new Moment();
      const chunkSeen = new Moment();
      const handler: HttpHandler = async () => ({
        status: 200,
        headers: { "content-type": "application/json" },
        body: (async function* () {
          await headSeen.come;
          yield toBytes("first");
          await chunkSeen.come;
          yield toBytes("second");
        })(),
      });
      return withServer(handler, async ({ client }) => {
        const { status, headers, body } = await client.request({ method: "GET", target: "/watch" });
        assert.equal(status, 200);
        assert.equal(headers["content-type"], "application/json");
        headSeen.now();
        const chunks: string[] = [];
        for await (const chunk of body) {
          chunks.push(toText(chunk));
          chunkSeen.now();
        }
        assert.deepEqual(chunks, ["first", "second"]);
      });
    });

    it("hands over chunks as they come, and says how it ended", () => {
      const more = new Moment();
      async function* body(target: string): AsyncGenerator<Uint8Array> {
        yield toBytes("one ");
        await more.come;
        yield toBytes("two");
        if (target === "/broken") throw new Error("broken on purpose");
      }
      return withServer(
        async ({ target }) => ({ status: 200, headers: {}, body: body(target) }),
        async ({ client }) => {
          const read = async (
            target: string,
            take: (text: string) => void,
            signal?: AbortSignal,
          ): Promise<void> => {
            const response = await client.request({ method: "GET", target, ...(signal && { signal }) });
            await readBody(response.body, (chunk) => take(toText(chunk)));
          };
          let text = "";
          await read("/", (chunk) => {
            text += chunk;
            more.now();
          });
          assert.equal(text, "one two");
          await assert.rejects(
            read("/broken", () => {}),
            { name: "NetworkError", code: "Broken" },
          );
          const full = new Error("the reader has had enough");
          await assert.rejects(
            read("/", () => {
              throw full;
            }),
            full,
          );
          const stopping = new AbortController();
          await assert.rejects(
            read("/", () => stopping.abort(full), stopping.signal),
            full,
          );
        },
      );
    });

    it("lets a stream wait for its reader", () => {
      const total = 256;
      let sent = 0;
      const handler: HttpHandler = async () => ({
        status: 200,
        headers: {},
        body: (async function* () {
          for (; sent < total; sent++) yield pattern(256 * 1024, sent);
        })(),
      });
      return withServer(handler, async ({ client, nodes }) => {
        const { body } = await client.request({ method: "GET", target: "/" });
        await untilStill(nodes, () => sent);
        assert.ok(sent < total, "the whole stream was taken although nobody reads");
        assert.equal((await collect(body)).length, total * 256 * 1024);
      });
    });

    it("tells the handler when the client aborts", () => {
      const gone = new Moment();
      const ended = new Moment();
      const handler: HttpHandler = async ({ signal }) => {
        signal.addEventListener("abort", () => gone.now(), { once: true });
        return { status: 200, headers: {}, body: endless(signal, ended) };
      };
      return withServer(handler, async ({ client }) => {
        const abort = new AbortController();
        const reason = new Error("enough");
        const { body } = await client.request({ method: "GET", target: "/", signal: abort.signal });
        await assert.rejects(async () => {
          for await (const chunk of body) if (chunk.length > 0) abort.abort(reason);
        }, reason);
        await Promise.all([gone.come, ended.come]);
      });
    });

    it("tells the handler when the client stops reading", () => {
      const gone = new Moment();
      const ended = new Moment();
      const handler: HttpHandler = async ({ signal }) => {
        signal.addEventListener("abort", () => gone.now(), { once: true });
        return { status: 200, headers: {}, body: endless(signal, ended) };
      };
      return withServer(handler, async ({ client }) => {
        const { body } = await client.request({ method: "GET", target: "/" });
        for await (const chunk of body) if (chunk.length > 0) break;
        await Promise.all([gone.come, ended.come]);
      });
    });

    it("aborts a request that is not answered yet, and rejects with the signal's reason", () => {
      const came = new Moment();
      const gone = new Moment();
      const handler: HttpHandler = async ({ signal }) => {
        came.now();
        await aborted(signal);
        gone.now();
        return { status: 200, headers: {}, body: new Uint8Array() };
      };
      return withServer(handler, async ({ client }) => {
        const abort = new AbortController();
        const reason = new Error("too slow");
        const asked = client.request({ method: "GET", target: "/", signal: abort.signal });
        void came.come.then(() => abort.abort(reason));
        await assert.rejects(asked, reason);
        await gone.come;
        await assert.rejects(
          client.request({ method: "GET", target: "/", signal: AbortSignal.abort(reason) }),
          reason,
        );
      });
    });

    it("does not abort the signal of an exchange that ended well", () => {
      const signals: AbortSignal[] = [];
      const handler: HttpHandler = async (request) => {
        signals.push(request.signal);
        const streamed = request.target === "/stream";
        const text = toBytes("done");
        return { status: 200, headers: {}, body: streamed ? once(text) : text };
      };
      return withServer(handler, async ({ client, nodes }) => {
        for (const target of ["/", "/stream"]) {
          const response = await client.request({ method: "GET", target });
          await collect(response.body);
        }
        await goRound(nodes);
        assert.deepEqual(
          signals.map((signal) => signal.aborted),
          [false, false],
        );
      });
    });

    it("throws at the reader when the stream fails in the middle", () => {
      const delaysMs = [0, 1, 10];
      return subject.run(async (nodes) => {
        for (const ms of delaysMs) {
          const handler: HttpHandler = async () => ({
            status: 200,
            headers: {},
            body: (async function* () {
              yield toBytes("half");
              if (ms > 0) await nodes.server.clock.sleep(ms);
              throw new Error("the other half is lost");
            })(),
          });
          const { client, server } = await openWorld(nodes, variant, handler);
          const { body } = await client.request({ method: "GET", target: "/" });
          await assert.rejects(collect(body), { name: "NetworkError", code: "Broken" }, `after ${ms} ms`);
          await client[Symbol.asyncDispose]();
          await server[Symbol.asyncDispose]();
        }
      });
    });

    it("asks open streams to end when the server closes, and lets them say goodbye", () => {
      const handler: HttpHandler = async ({ signal }) => ({
        status: 200,
        headers: {},
        body: (async function* () {
          yield toBytes("hello ");
          await aborted(signal);
          yield toBytes("goodbye");
        })(),
      });
      return withServer(handler, async ({ client, server }) => {
        const { body } = await client.request({ method: "GET", target: "/" });
        let closed: Promise<void> | undefined;
        let text = "";
        for await (const chunk of body) {
          text += toText(chunk);
          closed ??= Promise.resolve(server[Symbol.asyncDispose]());
        }
        assert.equal(text, "hello goodbye");
        await closed;
        await assert.rejects(client.request({ method: "GET", target: "/" }), { code: "Refused" });
      });
    });

    it("breaks streams that do not end when the server closes", () => {
      const handler: HttpHandler = async () => ({
        status: 200,
        headers: {},
        body: (async function* () {
          yield toBytes("I stay");
          await new Promise(() => {});
        })(),
      });
      return withServer(handler, async ({ client, server }) => {
        const { body } = await client.request({ method: "GET", target: "/" });
        await assert.rejects(
          async () => {
            for await (const chunk of body) if (chunk.length > 0) void server[Symbol.asyncDispose]();
          },
          { name: "NetworkError", code: "Broken" },
        );
      });
    });

    it("comes back to a server that was restarted", () =>
      withServer(describeRequest, async ({ client, server, nodes }) => {
        await collect((await client.request({ method: "GET", target: "/" })).body);
        const { local } = server;
        await server[Symbol.asyncDispose]();
        const again = await serve(nodes, variant, { handler: describeRequest, port: local.port });
        const response = await client.request({ method: "GET", target: "/again" });
        assert.equal(toText(await collect(response.body)), "GET /again 0");
        await again[Symbol.asyncDispose]();
      }));

    it("is refused where nothing listens", () =>
      withServer(describeRequest, async ({ nodes, server }) => {
        await server[Symbol.asyncDispose]();
        const client = openClient(nodes, variant, server);
        await assert.rejects(client.request({ method: "GET", target: "/" }), {
          name: "NetworkError",
          code: "Refused",
        });
        await client[Symbol.asyncDispose]();
      }));

    it("fails everything of a client that was disposed", () => {
      const gone = new Moment();
      const handler: HttpHandler = async ({ signal }) => {
        signal.addEventListener("abort", () => gone.now(), { once: true });
        return { status: 200, headers: {}, body: endless(signal, new Moment()) };
      };
      return withServer(handler, async ({ client }) => {
        const { body } = await client.request({ method: "GET", target: "/" });
        const reading = assert.rejects(collect(body), { name: "NetworkError" });
        await client[Symbol.asyncDispose]();
        await reading;
        await gone.come;
        await assert.rejects(client.request({ method: "GET", target: "/" }), { code: "Closed" });
      });
    });

    it("refuses a port that is taken", () =>
      withServer(describeRequest, async ({ nodes, server }) => {
        await assert.rejects(serve(nodes, variant, { handler: describeRequest, port: server.local.port }), {
          code: "AddressInUse",
        });
      }));
  });
}

const bodyBytesMax = 1024 * 1024;

interface HttpWorld {
  readonly nodes: ContractNodes;
  readonly server: HttpServer;
  readonly client: HttpClient;
}

async function openWorld(
  nodes: ContractNodes,
  variant: HttpVariant,
  handler: HttpHandler,
): Promise<HttpWorld> {
  const server = await serve(nodes, variant, { handler, port: 0 });
  return { nodes, server, client: openClient(nodes, variant, server) };
}

function serve(
  { server, serverAddress }: ContractNodes,
  variant: HttpVariant,
  options: { handler: HttpHandler; port: number },
): Promise<HttpServer> {
  const tls = variant.serverTls;
  return server.network.serveHttp({
    address: serverAddress,
    bodyBytesMax,
    ...options,
    ...(tls === undefined ? {} : { tls }),
  });
}

function openClient({ client }: ContractNodes, variant: HttpVariant, { local }: HttpServer): HttpClient {
  const scheme = variant.serverTls === undefined ? "http" : "https";
  const tls = variant.clientTls;
  return client.network.httpClient({
    origin: `${scheme}://${local.address}:${local.port}`,
    ...(tls === undefined ? {} : { tls }),
  });
}

const describeRequest: HttpHandler = async ({ method, target, body }) => ({
  status: 200,
  headers: { "content-type": "text/plain" },
  body: toBytes(`${method} ${target} ${body.length}`),
});

/** One chunk, then silence until the signal aborts. */
async function* endless(signal: AbortSignal, ended: Moment): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield toBytes("tick");
    await aborted(signal);
  } finally {
    ended.now();
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
