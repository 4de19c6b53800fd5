import assert from "node:assert/strict";
import { test } from "node:test";
import { DnsError } from "@meridian/dns";
import type { Explanation } from "@meridian/gslb";
import { operatorEndpoint } from "./operator-endpoint.ts";

const handler = operatorEndpoint(
  {
    explain: (host): Explanation => {
      if (host.includes("..")) throw new DnsError("BadName", "it has an empty label");
      return { host, geoTag: "eu", peers: [], dns: [], warnings: [] };
    },
  },
  {
    token: "right",
    metrics: async ({ target }) => ({
      status: 200,
      headers: {},
      body: new TextEncoder().encode(`told ${target}`),
    }),
  },
);

const cases = [
  { target: "/explain?host=a.example", expect: [200, /"host":"a\.example"/] },
  { target: "/explain?host=a..example", expect: [400, /empty label/] },
  { target: "/explain", expect: [400, /name a host/] },
  { target: "/metrics", expect: [200, /told \/metrics/] },
  { target: "/metrics", authorization: undefined, expect: [401, /bearer token/] },
  { target: "/healthz", authorization: undefined, expect: [200, /told \/healthz/] },
  { target: "/readyz", authorization: undefined, expect: [200, /told \/readyz/] },
  { target: "/", expect: [404, /only \/explain/] },
  { target: "/explain?host=a", method: "POST", expect: [405, /use GET/] },
  { target: "/explain?host=a", authorization: "Bearer wrong", expect: [401, /bearer token/] },
  { target: "/explain?host=a", authorization: "right", expect: [401, /bearer token/] },
  { target: "/explain?host=a", authorization: undefined, expect: [401, /bearer token/] },
] as const;

for (const { target, expect, ...given } of cases) {
  const authorization = "authorization" in given ? given.authorization : "Bearer right";
  const method = "method" in given ? given.method : "GET";
  test(`${method} ${target} with ${authorization ?? "no token"} is answered ${expect[0]}`, async () => {
    const response = await handler({
      method,
      target,
      headers: authorization === undefined ? {} : { authorization },
      body: new Uint8Array(),
      client: { address: "127.0.0.1", port: 1 },
      signal: new AbortController().signal,
    });
    assert.equal(response.status, expect[0]);
    assert.match(new TextDecoder().decode(response.body as Uint8Array), expect[1]);
  });
}
