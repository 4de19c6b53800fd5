import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { collect, toBytes, toText } from "../contracts/contract-subject.ts";
import type { HttpClientOptions, HttpServer, TlsServerIdentity } from "../network.ts";
import { silentLogger } from "../logger.ts";
import { NodeHttpClient } from "./node-http-client.ts";
import { serveNodeHttp } from "./node-http-server.ts";
import { createTestCertificates } from "./testdata/test-certificates.ts";
import { startConnectProxy, startSocksProxy } from "./testdata/test-proxies.ts";

const certificates = await createTestCertificates();

function serve(tls?: TlsServerIdentity): Promise<HttpServer> {
  return serveNodeHttp(
    {
      address: "127.0.0.1",
      port: 0,
      bodyBytesMax: 1024,
      ...(tls === undefined ? {} : { tls }),
      handler: async ({ target }) => ({ status: 200, headers: {}, body: toBytes(`at ${target}`) }),
    },
    silentLogger,
  );
}

async function ask(options: HttpClientOptions, targets: readonly string[]): Promise<readonly string[]> {
  await using client = new NodeHttpClient(options);
  const answers: string[] = [];
  for (const target of targets) {
    const { body } = await client.request({ method: "GET", target });
    answers.push(toText(await collect(body)));
  }
  return answers;
}

describe("a client behind a proxy", () => {
  const proxies = {
    http: { start: startConnectProxy, url: (port: number) => `http://127.0.0.1:${port}` },
    socks5: { start: startSocksProxy, url: (port: number) => `socks5://127.0.0.1:${port}` },
  };
  for (const [name, { start, url }] of Object.entries(proxies)) {
    it(`speaks HTTP/2 through one connection of a ${name} proxy`, async () => {
      await using server = await serve(certificates.server);
      await using proxy = await start();
      const origin = `https://localhost:${server.local.port}`;
      const options = { origin, proxyUrl: url(proxy.port), tls: { caPem: certificates.caPem } };
      assert.deepEqual(await ask(options, ["/a", "/b"]), ["at /a", "at /b"]);
      assert.deepEqual(proxy.asked, [`localhost:${server.local.port}`]);
    });

    it(`speaks plain HTTP/1.1 through kept connections of a ${name} proxy`, async () => {
      await using server = await serve();
      await using proxy = await start();
      const origin = `http://127.0.0.1:${server.local.port}`;
      assert.deepEqual(await ask({ origin, proxyUrl: url(proxy.port) }, ["/a", "/b"]), ["at /a", "at /b"]);
      assert.deepEqual(proxy.asked, [`127.0.0.1:${server.local.port}`]);
    });

    it(`logs in to a ${name} proxy, and says when it is not let through, without the password`, async () => {
      await using server = await serve(certificates.server);
      await using proxy = await start({ login: "me@home:s3cr3t" });
      const origin = `https://127.0.0.1:${server.local.port}`;
      const through = (login: string): Promise<readonly string[]> =>
        ask(
          {
            origin,
            proxyUrl: url(proxy.port).replace("//", `//${login}@`),
            tls: { caPem: certificates.caPem },
          },
          ["/a"],
        );
      assert.deepEqual(await through("me%40home:s3cr3t"), ["at /a"]);
      assert.deepEqual(proxy.asked, [`me@home:s3cr3t@127.0.0.1:${server.local.port}`]);
      await assert.rejects(through("me%40home:wr0ng"), (error: Error) => {
        assert.match(error.message, /the proxy .* does not connect to 127\.0\.0\.1:\d+/);
        assert.ok(!error.message.includes("wr0ng"));
        return true;
      });
    });

    it(`says that the server behind a ${name} proxy is not there`, async () => {
      await using proxy = await start();
      const options = { origin: "https://127.0.0.1:1", proxyUrl: url(proxy.port) };
      await assert.rejects(ask(options, ["/a"]), { name: "NetworkError" });
    });
  }

  it("goes through a proxy that is itself behind TLS", async () => {
    await using server = await serve(certificates.server);
    await using proxy = await startConnectProxy({ tls: certificates.server });
    const options = {
      origin: `https://127.0.0.1:${server.local.port}`,
      proxyUrl: `https://127.0.0.1:${proxy.port}`,
      tls: { caPem: certificates.caPem },
    };
    assert.deepEqual(await ask(options, ["/a"]), ["at /a"]);
  });

  it("says that there is no proxy", async () => {
    const options = { origin: "https://127.0.0.1:2", proxyUrl: "http://127.0.0.1:1" };
    await assert.rejects(ask(options, ["/a"]), { name: "NetworkError", code: "Refused" });
  });
});
