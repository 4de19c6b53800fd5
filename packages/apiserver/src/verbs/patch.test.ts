import assert from "node:assert/strict";
import { test } from "node:test";
import {
  configMap,
  configMapsPath,
  definitionsPath,
  TestApi,
  widget,
  widgetDefinition,
  widgetsPath,
} from "../test-api.ts";

const path = `${configMapsPath}/a`;
const merge = "application/merge-patch+json";
const json = "application/json-patch+json";
const strategic = "application/strategic-merge-patch+json";

const cases: readonly {
  readonly name: string;
  readonly contentType: string;
  readonly patch: unknown;
  readonly status: number;
  readonly data?: unknown;
  readonly message?: RegExp;
}[] = [
  {
    name: "a merge patch sets and removes",
    contentType: merge,
    patch: { data: { a: null, b: "2" } },
    status: 200,
    data: { b: "2" },
  },
  {
    name: "a strategic patch sets",
    contentType: strategic,
    patch: { data: { b: "2" } },
    status: 200,
    data: { a: "1", b: "2" },
  },
  {
    name: "a JSON patch replaces",
    contentType: json,
    patch: [{ op: "replace", path: "/data/a", value: "9" }],
    status: 200,
    data: { a: "9" },
  },
  {
    name: "a JSON patch whose test fails is invalid",
    contentType: json,
    patch: [{ op: "test", path: "/data/a", value: "no" }],
    status: 422,
  },
  {
    name: "a JSON patch that removes nothing is invalid",
    contentType: json,
    patch: [{ op: "remove", path: "/data/z" }],
    status: 422,
  },
  { name: "a patch that is no JSON is refused", contentType: merge, patch: "{", status: 400 },
  { name: "a merge patch that is no object is refused", contentType: merge, patch: "[]", status: 400 },
  { name: "a patch may not rename", contentType: merge, patch: { metadata: { name: "b" } }, status: 400 },
  { name: "a patch may not change the kind", contentType: merge, patch: { kind: "Secret" }, status: 400 },
  {
    name: "a patch that names a stale version conflicts",
    contentType: merge,
    patch: { metadata: { resourceVersion: "1" }, data: { a: "2" } },
    status: 409,
  },
  { name: "a patch of an unknown type is refused", contentType: "application/json", patch: {}, status: 415 },
];

for (const { contentType, data, name, patch, status } of cases) {
  test(name, async () => {
    await using api = await TestApi.start();
    await api.given(configMapsPath, configMap("a", { a: "1" }));
    const answer = await api.request("PATCH", path, { body: patch, contentType });
    assert.equal(answer.status, status, answer.text);
    if (data !== undefined) assert.deepEqual(answer.body["data"], data);
  });
}

test("a patch of a missing object answers NotFound", async () => {
  await using api = await TestApi.start();
  assert.equal((await api.merge(path, {})).status, 404);
});

test("custom resources take no strategic patch, and the answer says which they take", async () => {
  await using api = await TestApi.start();
  await api.given(definitionsPath, widgetDefinition());
  await api.advance(10);
  await api.given(widgetsPath, widget("w"));
  const answer = await api.request("PATCH", `${widgetsPath}/w`, { body: {}, contentType: strategic });
  assert.equal(answer.status, 415);
  assert.match(String(answer.body["message"]), /application\/merge-patch\+json/);
  assert.doesNotMatch(String(answer.body["message"]), /strategic/);
});

test("unknown fields of a patch are invalid where validation is strict", async () => {
  await using api = await TestApi.start();
  await api.given(configMapsPath, configMap("a"));
  const answer = await api.request("PATCH", `${path}?fieldValidation=Strict`, {
    body: { foo: 1 },
    contentType: merge,
  });
  assert.equal(answer.status, 422);
  assert.match(String(answer.body["message"]), /strict decoding error: unknown field "foo"/);
  assert.equal(answer.body["details"]?.["causes"]?.[0]?.["field"], "patch");
});

test("patches that race each other all take effect", async () => {
  await using api = await TestApi.start();
  await api.given(configMapsPath, configMap("a"));
  const writers = Array.from({ length: 20 }, (_, index) => api.merge(path, { data: { [`k${index}`]: "v" } }));
  for (const { status } of await Promise.all(writers)) assert.equal(status, 200);
  const { body } = await api.get(path);
  assert.equal(Object.keys(body["data"]!).length, 20);
});

test("a strategic patch merges ports by their number", async () => {
  await using api = await TestApi.start();
  const services = "/api/v1/namespaces/default/services";
  await api.given(services, { metadata: { name: "s" }, spec: { ports: [{ name: "a", port: 80 }] } });
  const { body } = await api.request("PATCH", `${services}/s`, {
    body: {
      spec: {
        ports: [
          { name: "b", port: 81 },
          { $patch: "delete", port: 80 },
        ],
      },
    },
    contentType: strategic,
  });
  assert.deepEqual(body["spec"]?.["ports"], [{ name: "b", port: 81, protocol: "TCP" }]);
});

test("the scale of a workload is read and written by itself", async () => {
  await using api = await TestApi.start();
  const deployments = "/apis/apps/v1/namespaces/default/deployments";
  await api.given(deployments, {
    metadata: { name: "d" },
    spec: { selector: { matchLabels: { a: "b" } }, template: {} },
  });
  const scale = await api.get(`${deployments}/d/scale`);
  assert.equal(scale.body["kind"], "Scale");
  assert.deepEqual(scale.body["spec"], { replicas: 1 });
  assert.deepEqual(scale.body["status"], { replicas: 0, selector: "a=b" });
  const patched = await api.merge(`${deployments}/d/scale`, { spec: { replicas: 3 } });
  assert.deepEqual(patched.body["spec"], { replicas: 3 });
  const stale = await api.put(`${deployments}/d/scale`, { ...scale.body, spec: { replicas: 5 } });
  assert.equal(stale.status, 409);
  const { body } = await api.get(`${deployments}/d`);
  assert.equal(body["spec"]?.["replicas"], 3);
  assert.equal(body["metadata"]?.["generation"], 2);
});

for (const [name, body] of [
  ["an alias inside of what it names", "a: &a [*a]"],
  ["mappings nested without end", '{"a":'.repeat(100_000)],
  ["sequences nested without end", "- ".repeat(100_000)],
] as const) {
  test(`YAML with ${name} is refused and harms nobody else`, async () => {
    await using api = await TestApi.start();
    const answer = await api.request("PATCH", `${path}?fieldManager=me`, {
      body,
      contentType: "application/apply-patch+yaml",
    });
    assert.equal(answer.status, 400, answer.text);
  });
}

test("a strategic patch merges finalizers and owners, the lists of every kind", async () => {
  await using api = await TestApi.start();
  const owner = (name: string) => ({ apiVersion: "example.com/v1", kind: "Tree", name, uid: `uid-${name}` });
  await api.given(configMapsPath, {
    metadata: { name: "a", finalizers: ["example.com/a"], ownerReferences: [owner("oak")] },
  });
  const added = await api.request("PATCH", path, {
    body: { metadata: { finalizers: ["example.com/b"], ownerReferences: [owner("elm")] } },
    contentType: strategic,
  });
  assert.deepEqual(added.body["metadata"]?.["finalizers"], ["example.com/a", "example.com/b"]);
  assert.deepEqual(added.body["metadata"]?.["ownerReferences"], [owner("oak"), owner("elm")]);
  const removed = await api.request("PATCH", path, {
    body: {
      metadata: {
        "$deleteFromPrimitiveList/finalizers": ["example.com/a"],
        ownerReferences: [{ uid: "uid-oak", $patch: "delete" }],
      },
    },
    contentType: strategic,
  });
  assert.deepEqual(removed.body["metadata"]?.["finalizers"], ["example.com/b"]);
  assert.deepEqual(removed.body["metadata"]?.["ownerReferences"], [owner("elm")]);
});

test("a strategic patch of a cron job's container leaves the others alone", async () => {
  await using api = await TestApi.start();
  const jobs = "/apis/batch/v1/namespaces/default/cronjobs";
  const spec = (containers: readonly unknown[]) => ({
    spec: { jobTemplate: { spec: { template: { spec: { containers } } } } },
  });
  const both = [
    { name: "a", image: "1" },
    { name: "b", image: "1" },
  ];
  await api.given(jobs, { metadata: { name: "j" }, ...spec(both) });
  const { body } = await api.request("PATCH", `${jobs}/j`, {
    body: spec([{ name: "b", image: "2" }]),
    contentType: strategic,
  });
  assert.deepEqual(body["spec"], spec([both[0], { name: "b", image: "2" }]).spec);
});
