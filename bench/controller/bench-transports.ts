import { Agent, request as requestTls } from "node:https";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { connect } from "node:http2";
import { silentLogger } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { Client, Pool } from "undici";

/** One way to ask a server over TLS. */
export interface BenchTransport extends AsyncDisposable {
  /** The body of the answer to a GET. */
  get(path: string, signal?: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
}

/** Whom to ask. */
export interface BenchTarget {
  readonly origin: string;
  readonly caPem: string;
}

/** All ways that are measured, by name; ours is the first. */
export const transports: Readonly<Record<string, (target: BenchTarget) => BenchTransport>> = {
  "ours (node:http2)": ({ origin, caPem }) => {
    const runtime = nodeRuntime({ dataFolder: ".", log: silentLogger });
    const client = runtime.network.httpClient({ origin, tls: { caPem } });
    return {
      get: async (target, signal) =>
        (await client.request({ method: "GET", target, ...(signal === undefined ? {} : { signal }) })).body,
      [Symbol.asyncDispose]: async () => client[Symbol.asyncDispose](),
    };
  },

  "node:http2": ({ origin, caPem }) => {
    const session = connect(origin, { ca: caPem });
    session.on("error", () => {});
    return {
      async get(path, signal) {
        const stream = session.request({ ":path": path }, signal === undefined ? {} : { signal });
        stream.on("error", () => {});
        await once(stream, "response");
        return stream as AsyncIterable<Uint8Array>;
      },
      async [Symbol.asyncDispose]() {
        session.destroy();
      },
    };
  },

  "node:https": ({ origin, caPem }) => {
    const agent = new Agent({ keepAlive: true, ca: caPem });
    return {
      async get(path, signal) {
        const outgoing = requestTls(origin + path, { agent, ...(signal === undefined ? {} : { signal }) });
        outgoing.on("error", () => {});
        outgoing.end();
        const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
        incoming.on("error", () => {});
        return incoming as AsyncIterable<Uint8Array>;
      },
      async [Symbol.asyncDispose]() {
        agent.destroy();
      },
    };
  },

  "undici (HTTP/1.1)": ({ origin, caPem }) =>
    undiciTransport(new Pool(origin, { connect: { ca: caPem }, headersTimeout: 0, bodyTimeout: 0 })),

  "undici (HTTP/2)": ({ origin, caPem }) =>
    undiciTransport(
      new Client(origin, {
        allowH2: true,
        connect: { ca: caPem },
        headersTimeout: 0,
        bodyTimeout: 0,
        maxConcurrentStreams: 1000,
        pipelining: 1000,
      }),
    ),
};

function undiciTransport(dispatcher: Client | Pool): BenchTransport {
  return {
    async get(path, signal) {
      const { body } = await dispatcher.request({
        method: "GET",
        path,
        ...(signal === undefined ? {} : { signal }),
      });
      body.on("error", () => {});
      return body as AsyncIterable<Uint8Array>;
    },
    [Symbol.asyncDispose]: () => dispatcher.destroy(),
  };
}
