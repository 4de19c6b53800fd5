import assert from "node:assert/strict";
import test from "node:test";
import type { HttpRequest, HttpResponse } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import { parseMessage } from "../message/message.ts";
import { caseZoneText, hex, loadZone, question } from "../testdata/case-zone.ts";
import { Authority } from "./authority.ts";
import type { RequestPipeline } from "./dns-request.ts";
import { dohHandler } from "./doh-handler.ts";

const { runtime } = new Simulation({ seed: 1 }).node({ name: "server", addresses: ["10.0.0.2"] });
const authority = new Authority(runtime);
authority.setZone(loadZone(caseZoneText));

async function* answersOf(count: number): AsyncGenerator<Uint8Array> {
  for (let index = 0; index < count; index++) yield hex("0000 8000 0000 0000 0000 0000");
}

/** Answers a deferred request with as many messages as its id says. */
const pipeline: RequestPipeline = { handle: ({ message }) => answersOf((message[0]! << 8) | message[1]!) };

function send(
  request: Partial<HttpRequest>,
  options: { readonly requests?: RequestPipeline; readonly deferring?: boolean } = {},
): Promise<HttpResponse> {
  const handler = dohHandler({
    answer: options.deferring === true ? () => -1 : authority.answer,
    requests: () => options.requests,
    path: "/dns-query",
    onQuestion: () => {},
  });
  return handler({
    method: "GET",
    target: "/dns-query",
    headers: {},
    body: new Uint8Array(),
    client: { address: "192.0.2.1", port: 5 },
    signal: new AbortController().signal,
    ...request,
  });
}

const base64url = (octets: Uint8Array): string => Buffer.from(octets).toString("base64url");
const get = (octets: Uint8Array): Partial<HttpRequest> => ({ target: `/dns-query?dns=${base64url(octets)}` });
const post = (body: Uint8Array, type = "application/dns-message"): Partial<HttpRequest> => ({
  method: "POST",
  headers: { "content-type": type },
  body,
});

for (const [name, request, expected] of [
  ["an answer may be kept for its least TTL", get(question("www.p.test", "A")), [0, 2, "max-age=60"]],
  ["the same by POST", post(question("www.p.test", "A")), [0, 2, "max-age=60"]],
  [
    "a parameter among others",
    { target: `/dns-query?a=b&dns=${base64url(question("www.p.test", "A"))}&c` },
    [0, 2, "max-age=60"],
  ],
  ["no such name for the negative TTL", get(question("nx.p.test", "A")), [3, 0, "max-age=30"]],
  ["a refusal not at all", get(question("www.example.org", "A")), [5, 0, "no-store"]],
] as const) {
  test(`DNS over HTTPS answers: ${name}`, async () => {
    const response = await send(request);
    assert.equal(response.status, 200);
    assert.equal(response.headers["content-type"], "application/dns-message");
    const message = parseMessage(response.body as Uint8Array);
    assert.deepEqual([message.rcode, message.answers.length, response.headers["cache-control"]], expected);
  });
}

for (const [name, request, status] of [
  ["another path", { target: "/" }, 404],
  ["no parameter", {}, 400],
  ["an empty parameter", { target: "/dns-query?dns=" }, 400],
  ["five octets", get(new Uint8Array(5)), 400],
  ["base64 of the other alphabet", { target: "/dns-query?dns=AAAA+/AAAAAAAAAAAAAA" }, 400],
  ["half an octet", { target: "/dns-query?dns=AAAAAAAAAAAAAAAAAAAAA" }, 400],
  ["a parameter of 30,000 letters", { target: `/dns-query?dns=${"A".repeat(30_000)}` }, 414],
  ["a message that is an answer", get(question("www.p.test", "A", { response: true })), 400],
  ["another method", { method: "PUT" }, 405],
  ["another media type", post(question("www.p.test", "A"), "application/dns-json"), 415],
  ["no media type", { method: "POST" }, 415],
  ["a long body", post(new Uint8Array(20_000)), 413],
  ["a short body", post(new Uint8Array(5)), 400],
] as const) {
  test(`E2, E12: DNS over HTTPS refuses ${name} with ${status}`, async () => {
    const response = await send(request);
    assert.equal(response.status, status);
    if (status === 405) assert.equal(response.headers["allow"], "GET, POST");
  });
}

test("what needs more than a lookup goes the way of all transports, with one answer or none", async () => {
  const asked = (id: number): Partial<HttpRequest> => post(Uint8Array.of(0, id, ...new Uint8Array(20)));
  const statuses = [];
  for (const id of [0, 1, 2]) {
    statuses.push((await send(asked(id), { requests: pipeline, deferring: true })).status);
  }
  assert.deepEqual(statuses, [400, 200, 400]);
  assert.equal((await send(asked(1), { deferring: true })).status, 400);
});
