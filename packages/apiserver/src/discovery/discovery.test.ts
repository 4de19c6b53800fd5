import assert from "node:assert/strict";
import { test } from "node:test";
import { definitionsPath, TestApi, widgetDefinition } from "../test-api.ts";

const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

interface Group {
  readonly metadata: { readonly name: string };
  readonly versions: readonly {
    readonly version: string;
    readonly resources: readonly { readonly resource: string }[];
  }[];
}
const groupsOf = (body: unknown): readonly Group[] => (body as { readonly items: readonly Group[] }).items;

test("the legacy documents name groups, preferred versions and resources", async () => {
  await using api = await TestApi.start();
  const core = await api.get("/api");
  assert.deepEqual(core.body["versions"], ["v1"]);
  const groups = (await api.get("/apis")).body as unknown as {
    readonly groups: readonly {
      readonly name: string;
      readonly versions: readonly unknown[];
      readonly preferredVersion: unknown;
    }[];
  };
  for (const { preferredVersion, versions } of groups.groups) assert.deepEqual(versions[0], preferredVersion);
  assert.ok(groups.groups.some(({ name }) => name === "apps"));
  assert.equal((await api.get("/apis/apps")).body["kind"], "APIGroup");
  const resources = (await api.get("/api/v1")).body as unknown as {
    readonly groupVersion: string;
    readonly resources: readonly Record<string, unknown>[];
  };
  assert.equal(resources.groupVersion, "v1");
  assert.deepEqual(
    resources.resources.find(({ name }) => name === "services"),
    {
      name: "services",
      singularName: "service",
      namespaced: true,
      kind: "Service",
      verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
      shortNames: ["svc"],
      categories: ["all"],
    },
  );
  const names = resources.resources.map(({ name }) => name);
  assert.ok(names.includes("services/status") && names.includes("namespaces/finalize"));
  const scale = (await api.get("/apis/apps/v1")).body as unknown as typeof resources;
  assert.deepEqual(
    scale.resources.find(({ name }) => name === "deployments/scale"),
    {
      name: "deployments/scale",
      singularName: "",
      namespaced: true,
      group: "autoscaling",
      version: "v1",
      kind: "Scale",
      verbs: ["get", "patch", "update"],
    },
  );
});

test("the aggregated form is given to who asks for it, in any order of parameters", async () => {
  await using api = await TestApi.start();
  for (const accept of [
    aggregated,
    "application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io, application/json",
  ]) {
    const { body, headers } = await api.get("/apis", { accept });
    assert.equal(headers["content-type"], aggregated);
    assert.equal(body["kind"], "APIGroupDiscoveryList");
    assert.equal(headers["vary"], "Accept");
    assert.ok(groupsOf(body).every(({ metadata }) => metadata.name !== ""));
  }
  const core = await api.get("/api", { accept: aggregated });
  assert.deepEqual(
    groupsOf(core.body).map(({ metadata }) => metadata.name),
    [""],
  );
  const legacy = await api.get("/apis", {
    accept: "application/json;as=Other;v=v2;g=apidiscovery.k8s.io,application/json",
  });
  assert.equal(legacy.body["kind"], "APIGroupList");
});

test("an unchanged aggregated document is not sent again", async () => {
  await using api = await TestApi.start();
  const first = await api.get("/apis", { accept: aggregated });
  const etag = first.headers["etag"] ?? "";
  assert.match(etag, /^".+"$/);
  const second = await api.get("/apis", { accept: aggregated, "if-none-match": etag });
  assert.equal(second.status, 304);
  await api.given(definitionsPath, widgetDefinition());
  await api.advance(10);
  const third = await api.get("/apis", { accept: aggregated, "if-none-match": etag });
  assert.equal(third.status, 200);
  assert.notEqual(third.headers["etag"], etag);
});

test("a new kind shows up at once, and goes with its definition", async () => {
  await using api = await TestApi.start();
  assert.equal((await api.get("/apis/example.com")).status, 404);
  await api.given(definitionsPath, widgetDefinition());
  await api.advance(10);
  const group = groupsOf((await api.get("/apis", { accept: aggregated })).body).find(
    ({ metadata }) => metadata.name === "example.com",
  );
  assert.deepEqual(group?.versions, [
    {
      version: "v1",
      freshness: "Current",
      resources: [
        {
          resource: "widgets",
          responseKind: { group: "example.com", version: "v1", kind: "Widget" },
          scope: "Namespaced",
          singularResource: "widget",
          verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
          shortNames: ["wd"],
          categories: ["all"],
          subresources: [
            {
              subresource: "status",
              responseKind: { group: "example.com", version: "v1", kind: "Widget" },
              verbs: ["get", "patch", "update"],
            },
          ],
        },
      ],
    },
  ]);
  assert.equal((await api.get("/apis/example.com/v1")).status, 200);
  await api.delete(`${definitionsPath}/widgets.example.com`);
  await api.advance(1_000);
  assert.equal((await api.get("/apis/example.com/v1")).status, 404);
});

const unknownPaths = [
  "/apis/nope",
  "/apis/apps/v9",
  "/api/v2",
  "/api/v1/nope",
  "/apis/apps/v1/nope",
  "/nope",
  "/openapi/v3/apis/nope/v1",
];
for (const path of unknownPaths) {
  test(`${path} is not found`, async () => {
    await using api = await TestApi.start();
    const { headers, status, text } = await api.get(path);
    assert.equal(status, 404);
    assert.equal(text, "404 page not found\n");
    assert.equal(headers["content-type"], "text/plain; charset=utf-8");
  });
}

test("the version is a semantic one with integer parts", async () => {
  await using api = await TestApi.start();
  const { body } = await api.get("/version");
  assert.match(String(body["major"]), /^\d+$/);
  assert.match(String(body["minor"]), /^\d+$/);
  assert.match(String(body["gitVersion"]), /^v\d+\.\d+\.\d+(?:[+-].*)?$/);
});

test("health tells its checks on demand", async () => {
  await using api = await TestApi.start();
  assert.equal((await api.get("/livez")).text, "ok");
  assert.equal(
    (await api.get("/readyz?verbose")).text,
    "[+]ping ok\n[+]poststarthook ok\nreadyz check passed\n",
  );
  assert.equal(
    (await api.get("/readyz?verbose&exclude=ping")).text,
    "[+]poststarthook ok\nreadyz check passed\n",
  );
  assert.equal((await api.get("/readyz/nope")).status, 404);
});

const otherMethods: readonly (readonly [method: string, path: string])[] = [
  ["POST", "/version"],
  ["PUT", "/api/v1"],
  ["DELETE", "/apis"],
  ["POST", "/openapi/v3"],
  ["POST", "/api/v1/configmaps"],
  ["PUT", "/api/v1/namespaces/default/configmaps"],
];
for (const [method, path] of otherMethods) {
  test(`${method} ${path} is not allowed`, async () => {
    await using api = await TestApi.start();
    const { body, status } = await api.request(method, path, { body: {} });
    assert.equal(status, 405);
    assert.equal(body["reason"], "MethodNotAllowed");
  });
}
