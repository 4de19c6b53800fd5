import assert from "node:assert/strict";
import { Authority, parseMessage, serveDns } from "@meridian/dns";
import type { HttpHandler } from "@meridian/runtime";
import { fuzzRuntime, fuzzZone } from "./fuzz-world.ts";

let handler: HttpHandler | undefined;
const runtime = fuzzRuntime({
  network: {
    serveHttp: async (options) => {
      ({ handler } = options);
      return { local: options, setTls() {}, [Symbol.asyncDispose]: async () => {} };
    },
  },
});
const authority = new Authority({ ...runtime, rateLimit: false });
authority.setZone(fuzzZone());
const identity = { certificatePem: "", privateKeyPem: "" };
await serveDns(runtime, {
  authority,
  listen: [],
  https: { listen: [{ address: "192.0.2.53", port: 443 }], identity },
});
const statuses = new Set([200, 400, 404, 405, 413, 414, 415]);
const { signal } = new AbortController();

/** The first octet chooses GET, POST or the whole target; each request gets a status of ours, and each message a sound answer. */
export async function fuzz(given: Uint8Array): Promise<void> {
  const rest = Buffer.from(given.subarray(1));
  const how = (given[0] ?? 0) & 3;
  const response = await handler!({
    method: how === 1 ? "POST" : "GET",
    target: targetOf(how, rest),
    headers: how === 1 ? { "content-type": "application/dns-message" } : {},
    body: how === 1 ? Uint8Array.from(rest) : new Uint8Array(),
    client: { address: "192.0.2.200", port: 4_000 },
    signal,
  });
  assert.ok(statuses.has(response.status), `status ${response.status}`);
  assert.ok(response.body instanceof Uint8Array);
  assert.equal(response.headers["content-length"], String(response.body.length));
  if (response.status !== 200) return;
  assert.match(response.headers["cache-control"] ?? "", /^(no-store|max-age=\d+)$/);
  assert.ok(parseMessage(response.body).response);
}

function targetOf(how: number, rest: Buffer): string {
  if (how === 0) return `/dns-query?dns=${rest.toString("base64url")}`;
  return how === 1 ? "/dns-query" : `/${rest.toString("latin1")}`;
}
