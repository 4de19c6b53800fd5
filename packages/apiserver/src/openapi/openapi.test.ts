import assert from "node:assert/strict";
import { test } from "node:test";
import { definitionsPath, TestApi, widgetDefinition } from "../test-api.ts";

interface Document {
  readonly paths: Readonly<
    Record<string, { readonly patch?: { readonly parameters: readonly { readonly name: string }[] } }>
  >;
  readonly components: { readonly schemas: Readonly<Record<string, Readonly<Record<string, unknown>>>> };
}

test("the index names each group version with its hash, and hashed documents never change", async () => {
  await using api = await TestApi.start();
  const { body } = await api.get("/openapi/v3");
  const url = String(body["paths"]?.["apis/apps/v1"]?.["serverRelativeURL"]);
  assert.match(url, /^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]{64}$/);
  const hashed = await api.get(url);
  assert.equal(hashed.status, 200);
  assert.match(hashed.headers["cache-control"] ?? "", /immutable/);
  const wrong = await api.get("/openapi/v3/apis/apps/v1?hash=ABC");
  assert.equal(wrong.status, 301);
  assert.equal(wrong.headers["location"], url);
  const plain = await api.get("/openapi/v3/apis/apps/v1");
  assert.equal(plain.text, hashed.text);
  assert.equal(
    (await api.get("/openapi/v3/apis/apps/v1", { "if-none-match": plain.headers["etag"] ?? "" })).status,
    304,
  );
});

test("every reference of every document leads to a schema of it", async () => {
  await using api = await TestApi.start();
  await api.given(definitionsPath, widgetDefinition());
  await api.advance(10);
  const index = (await api.get("/openapi/v3")).body["paths"] as unknown as Record<string, unknown>;
  assert.ok("apis/example.com/v1" in index);
  for (const path of Object.keys(index)) {
    const { text } = await api.get(`/openapi/v3/${path}`);
    const { components } = JSON.parse(text) as Document;
    for (const [, name] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      assert.ok(name !== undefined && name in components.schemas, `${path}: ${name}`);
    }
  }
});

test("kubectl finds what it looks for: kinds, validation parameters and merge keys", async () => {
  await using api = await TestApi.start();
  const core = JSON.parse((await api.get("/openapi/v3/api/v1")).text) as Document;
  const service = core.components.schemas["io.k8s.api.core.v1.Service"];
  assert.deepEqual(service?.["x-kubernetes-group-version-kind"], [
    { group: "", version: "v1", kind: "Service" },
  ]);
  assert.match(JSON.stringify(service), /"x-kubernetes-patch-merge-key":"port"/);
  const patch = core.paths["/api/v1/namespaces/{namespace}/services/{name}"]?.patch;
  const names = patch?.parameters.map(({ name }) => name) ?? [];
  assert.ok(names.includes("fieldValidation") && names.includes("dryRun"));
});

test("a custom kind's schema is published under its own name, with its descriptions", async () => {
  await using api = await TestApi.start();
  await api.given(
    definitionsPath,
    widgetDefinition({
      schema: { openAPIV3Schema: { type: "object", description: "Widget is a thing.", properties: {} } },
    }),
  );
  await api.advance(10);
  const document = JSON.parse((await api.get("/openapi/v3/apis/example.com/v1")).text) as Document;
  const schema = document.components.schemas["com.example.v1.Widget"];
  assert.equal(schema?.["description"], "Widget is a thing.");
  assert.match(JSON.stringify(schema?.["properties"]), /"metadata":\{/);
  assert.ok("com.example.v1.WidgetList" in document.components.schemas);
});

test("the older document is whole in JSON only", async () => {
  await using api = await TestApi.start();
  const { body, status } = await api.get("/openapi/v2", { accept: "application/json" });
  assert.equal(status, 200);
  assert.equal(body["swagger"], "2.0");
  assert.equal((await api.get("/openapi/v2", { accept: "application/yaml" })).status, 406);
});

test("a document under its hash may be kept for a year", async () => {
  await using api = await TestApi.start();
  const index = await api.get("/openapi/v3");
  const url = String(index.body["paths"]?.["api/v1"]?.["serverRelativeURL"]);
  const { headers } = await api.get(url);
  assert.match(String(headers["cache-control"]), /^public, immutable/);
  assert.match(String(headers["expires"]), / 2027 .* GMT$/);
});

for (const accept of [
  "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
  "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
])
  test(`a client that reads only ${accept} gets a document without definitions`, async () => {
    await using api = await TestApi.start();
    const { status, text } = await api.get("/openapi/v2", { accept });
    // Field 1 the version, 2 title and version of the API, 8 no paths.
    assert.deepEqual(
      [status, text],
      [200, "\u000a\u00032.0\u0012\u0015\u000a\u000aKubernetes\u0012\u0007v1.33.0\u0042\u0000"],
    );
    const both = await api.get("/openapi/v2", { accept: `application/json,${accept}` });
    assert.equal((JSON.parse(both.text) as { readonly swagger: string }).swagger, "2.0");
  });
