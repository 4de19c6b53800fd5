import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  configMap,
  configMapsPath,
  definitionsPath,
  TestApi,
  widget,
  widgetDefinition,
  widgetsPath,
} from "./test-api.ts";

test("null says nothing in built-in kinds, and gives way to defaults in custom ones", async () => {
  await using api = await TestApi.start();
  const service = await api.post("/api/v1/namespaces/default/services", {
    metadata: { name: "s", labels: null, creationTimestamp: null },
    spec: { ports: null, selector: null, type: null },
    status: null,
  });
  assert.equal(service.status, 201, service.text);
  assert.deepEqual(service.body["spec"], { type: "ClusterIP", sessionAffinity: "None" });
  await api.given(definitionsPath, widgetDefinition());
  await api.advance(10);
  const custom = await api.post(widgetsPath, { ...widget("w"), spec: { color: null } });
  assert.deepEqual(custom.body["spec"], { color: "red" });
});

test("unknown fields of metadata are dropped, with a warning", async () => {
  await using api = await TestApi.start();
  const { body, headers } = await api.post(configMapsPath, { metadata: { name: "a", foo: 1 } });
  assert.equal(body["metadata"]?.["foo"], undefined);
  assert.equal(headers["warning"], '299 - "unknown field \\"metadata.foo\\""');
});

test("names that objects inherit in JavaScript are ordinary names", async () => {
  await using api = await TestApi.start();
  const data = { constructor: "a", toString: "b", hasOwnProperty: "c" };
  const { body, status } = await api.post(configMapsPath, { ...configMap("constructor"), data });
  assert.equal(status, 201);
  assert.deepEqual(body["data"], data);
  for (const path of [
    "/api/v1/constructor",
    "/apis/constructor/v1/x",
    "/apis/apps/toString",
    "/apis/__proto__/v1/x",
  ]) {
    assert.equal((await api.get(path)).status, 404, path);
  }
  assert.equal((await api.get(`${configMapsPath}?fieldSelector=constructor%3Dx`)).status, 400);
});

test("a body that is no valid UTF-8 is refused", async () => {
  await using api = await TestApi.start();
  const answer = await api.request("POST", configMapsPath, { body: Uint8Array.of(0x7b, 0xff, 0x7d) });
  assert.equal(answer.status, 400);
});

test("a YAML body that unfolds without end is refused", async () => {
  await using api = await TestApi.start();
  const levels = Array.from(
    { length: 30 },
    (_, index) => `a${index}: &a${index} [${index === 0 ? "x" : `*a${index - 1}, *a${index - 1}`}]`,
  );
  const answer = await api.request("POST", configMapsPath, {
    body: levels.join("\n"),
    contentType: "application/yaml",
  });
  assert.equal(answer.status, 400);
});

test("an open watch does not keep a deleted namespace's name busy", async () => {
  await using api = await TestApi.start();
  await api.given("/api/v1/namespaces", { metadata: { name: "n" } });
  const watch = await api.watch("/api/v1/namespaces/n/configmaps?watch=1");
  await api.delete("/api/v1/namespaces/n");
  await api.advance(2_000);
  assert.equal((await api.get("/api/v1/namespaces/n")).status, 404);
  watch.stop();
  await watch.ended;
});

const methods = fc.constantFrom("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW");
const segment = fc.constantFrom(
  "api",
  "apis",
  "v1",
  "apps",
  "namespaces",
  "default",
  "configmaps",
  "pods",
  "status",
  "watch",
  "..",
  "%2e%2e",
  "%",
  "a%00",
  "",
  "x".repeat(300),
  "ä",
  "openapi",
  "v3",
  "scale",
  "finalize",
);
const query = fc.constantFrom(
  "",
  "watch=1",
  "limit=x",
  "limit=99999999999999999999",
  "continue=%ff",
  "labelSelector=!!",
  "fieldSelector=%5c",
  "resourceVersion=99999999999999999999",
  "dryRun=x",
  "timeoutSeconds=-1",
  "includeObject=x",
  "fieldManager=%0a",
  "force=1",
);
const contentType = fc.constantFrom(
  "application/json",
  "application/yaml",
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
  "application/vnd.kubernetes.protobuf",
  ";;;",
  "",
);
const body = fc.oneof(
  fc.constant(undefined),
  fc.json(),
  fc.string(),
  fc.uint8Array({ maxLength: 50 }),
  fc.constantFrom(
    '{"metadata":{"name":{}}}',
    '{"metadata":5}',
    '{"metadata":{"name":"a","ownerReferences":[{}]}}',
    '[{"op":"x"}]',
    '{"spec":{"$patch":"x"}}',
    "- a",
    '{"kind":[]}',
  ),
);

test("no request makes the server fail", async () => {
  const errors: unknown[] = [];
  await using api = await TestApi.start();
  await api.given(configMapsPath, configMap("a", { k: "v" }));
  await fc.assert(
    fc.asyncProperty(
      fc.record({ method: methods, segments: fc.array(segment, { maxLength: 8 }), query, contentType, body }),
      async (request) => {
        const stopping = new AbortController();
        const response = await api.send(request.method, `/${request.segments.join("/")}?${request.query}`, {
          body: request.body,
          contentType: request.contentType,
          signal: stopping.signal,
        });
        stopping.abort();
        if (response.status >= 500) errors.push([request, response.status]);
      },
    ),
    { numRuns: 1_500, endOnFailure: true },
  );
  assert.deepEqual(errors, []);
});

test("no body of a known kind makes the server fail", async () => {
  await using api = await TestApi.start();
  const paths = ["services", "configmaps", "pods", "secrets", "events"].map(
    (plural) => `/api/v1/namespaces/default/${plural}`,
  );
  const anything = fc.jsonValue({ maxDepth: 4 });
  const object = fc.record(
    {
      metadata: fc.record(
        {
          name: fc.constant("a"),
          labels: anything,
          finalizers: anything,
          ownerReferences: anything,
          managedFields: anything,
        },
        { requiredKeys: [] },
      ),
      spec: anything,
      status: anything,
      data: anything,
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...paths),
      fc.constantFrom("POST", "PUT", "PATCH"),
      object,
      async (path, method, sent) => {
        const target = method === "POST" ? path : `${path}/a?fieldManager=f`;
        const type = method === "PATCH" ? "application/apply-patch+yaml" : "application/json";
        const { status, text } = await api.request(method, target, {
          body: JSON.stringify(sent),
          contentType: type,
        });
        assert.ok(status < 500, text);
        await api.delete(`${path}/a`, { gracePeriodSeconds: 0 });
      },
    ),
    { numRuns: 500 },
  );
});
