import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { configMapsPath, TestApi, type TestAnswer, type TestJson } from "../test-api.ts";
import { composeFieldsV1, FieldSet, parseFieldsV1 } from "./field-set.ts";

const path = `${configMapsPath}/a`;
const services = "/api/v1/namespaces/default/services";

const config = (data: Readonly<Record<string, string>>, metadata: object = {}): unknown => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a", ...metadata },
  data,
});

function managersOf(body: TestJson): Readonly<Record<string, unknown>> {
  const entries = (body["metadata"]?.["managedFields"] ?? []) as unknown as readonly {
    readonly manager: string;
    readonly operation: string;
    readonly fieldsV1: unknown;
  }[];
  return Object.fromEntries(
    entries.map(({ fieldsV1, manager, operation }) => [`${manager}/${operation}`, fieldsV1]),
  );
}

/** Applies as a manager; further query parameters may follow its name. */
const as = (api: TestApi, manager: string, body: unknown): Promise<TestAnswer> =>
  api.apply(`${path}?fieldManager=${manager}`, body);

test("apply creates, and what it names is owned", async () => {
  await using api = await TestApi.start();
  const { body, status } = await as(api, "one", config({ k: "v" }, { labels: { l: "x" } }));
  assert.equal(status, 201);
  assert.deepEqual(managersOf(body), {
    "one/Apply": { "f:data": { "f:k": {} }, "f:metadata": { "f:labels": { "f:l": {} } } },
  });
  const again = await as(api, "one", config({ k: "v" }, { labels: { l: "x" } }));
  assert.equal(again.status, 200);
  assert.equal(again.body["metadata"]?.["resourceVersion"], body["metadata"]?.["resourceVersion"]);
});

test("what a manager no longer applies goes, unless another owns it too", async () => {
  await using api = await TestApi.start();
  await as(api, "one", config({ a: "1", b: "1", c: "1" }));
  await as(api, "two", config({ b: "1" }));
  const { body } = await as(api, "one", config({ a: "2" }));
  assert.deepEqual(body["data"], { a: "2", b: "1" });
  assert.deepEqual(managersOf(body), {
    "one/Apply": { "f:data": { "f:a": {} } },
    "two/Apply": { "f:data": { "f:b": {} } },
  });
});

test("a field that another manager set otherwise is a conflict, until it is forced", async () => {
  await using api = await TestApi.start();
  await as(api, "one", config({ a: "1", b: "1" }));
  const refused = await as(api, "two", config({ a: "2" }));
  assert.equal(refused.status, 409);
  assert.equal(refused.body["reason"], "Conflict");
  assert.equal(refused.body["message"], 'Apply failed with 1 conflict: conflict with "one": .data.a');
  assert.deepEqual(refused.body["details"]?.["causes"], [
    { reason: "FieldManagerConflict", message: 'conflict with "one"', field: ".data.a" },
  ]);
  const forced = await as(api, "two&force=true", config({ a: "2" }));
  assert.deepEqual(forced.body["data"], { a: "2", b: "1" });
  assert.deepEqual(managersOf(forced.body), {
    "one/Apply": { "f:data": { "f:b": {} } },
    "two/Apply": { "f:data": { "f:a": {} } },
  });
});

test("several conflicts are told by manager", async () => {
  await using api = await TestApi.start();
  await as(api, "one", config({ a: "1", b: "1" }));
  await as(api, "two", config({ c: "1" }));
  const { body } = await as(api, "three", config({ a: "2", b: "2", c: "2" }));
  assert.equal(
    body["message"],
    'Apply failed with 3 conflicts: conflicts with "one":\n- .data.a\n- .data.b\nconflicts with "two":\n- .data.c',
  );
});

test("an update takes the fields that it sets from whoever owned them", async () => {
  await using api = await TestApi.start();
  await as(api, "one", config({ a: "1", b: "1" }));
  await api.merge(`${path}?fieldManager=hand`, { data: { a: "9", b: null } });
  const { body } = await api.get(path);
  assert.deepEqual(managersOf(body), { "hand/Update": { "f:data": { "f:a": {} } } });
  const refused = await as(api, "one", config({ a: "1" }));
  assert.match(String(refused.body["message"]), /conflict with "hand" using v1 at 2026-.*Z: \.data\.a$/);
});

test("items of a keyed list are owned one by one", async () => {
  await using api = await TestApi.start();
  const service = (...ports: readonly object[]): unknown => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "s" },
    spec: { ports },
  });
  await api.apply(`${services}/s?fieldManager=one`, service({ port: 80, name: "http" }));
  const both = await api.apply(`${services}/s?fieldManager=two`, service({ port: 443, name: "https" }));
  assert.equal(both.body["spec"]?.["ports"]?.["length"], 2);
  assert.deepEqual(managersOf(both.body)["two/Apply"], {
    "f:spec": { "f:ports": { 'k:{"port":443,"protocol":"TCP"}': { ".": {}, "f:name": {}, "f:port": {} } } },
  });
  const gone = await api.apply(`${services}/s?fieldManager=one`, service());
  assert.deepEqual(gone.body["spec"]?.["ports"], [{ name: "https", port: 443, protocol: "TCP" }]);
  const conflicting = await api.apply(`${services}/s?fieldManager=one`, service({ port: 443, name: "tls" }));
  assert.match(String(conflicting.body["message"]), /\.spec\.ports\[port=443,protocol="TCP"\]\.name$/);
  const doubled = await api.apply(`${services}/s?fieldManager=one`, service({ port: 1 }, { port: 1 }));
  assert.equal(doubled.status, 400);
});

test("an object that nobody kept track of belongs to an unknown manager", async () => {
  await using api = await TestApi.start();
  await api.given(configMapsPath, config({ a: "1" }));
  await api.merge(path, { metadata: { managedFields: [] } });
  const { body } = await as(api, "one", config({ b: "2" }));
  assert.deepEqual(Object.keys(managersOf(body)).sort(), ["before-first-apply/Update", "one/Apply"]);
});

test("the status is applied by itself, and its owners are kept apart", async () => {
  await using api = await TestApi.start();
  const ingresses = "/apis/networking.k8s.io/v1/namespaces/default/ingresses";
  const ingress = (fields: object): unknown => ({
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name: "i" },
    ...fields,
  });
  await api.apply(`${ingresses}/i?fieldManager=one`, ingress({ spec: { ingressClassName: "nginx" } }));
  const status = ingress({ status: { loadBalancer: { ingress: [{ ip: "10.0.0.1" }] } } });
  const { body } = await api.apply(`${ingresses}/i/status?fieldManager=two`, status);
  assert.deepEqual(body["status"]?.["loadBalancer"]?.["ingress"], [{ ip: "10.0.0.1" }]);
  assert.equal(body["spec"]?.["ingressClassName"], "nginx");
  assert.match(JSON.stringify(body["metadata"]), /"subresource":"status"/);
});

const refusals: readonly (readonly [
  name: string,
  query: string,
  body: unknown,
  status: number,
  message: RegExp,
])[] = [
  ["without a manager", "", config({}), 422, /fieldManager: Required value/],
  [
    "with managed fields",
    "?fieldManager=x",
    config({}, { managedFields: [{ manager: "x", operation: "Apply" }] }),
    400,
    /metadata.managedFields must be nil/,
  ],
  ["without a kind", "?fieldManager=x", { metadata: { name: "a" } }, 400, /apiVersion and kind/],
  ["of a stale version", "?fieldManager=x", config({}, { resourceVersion: "1" }), 409, /./],
  [
    "with unknown fields, strictly",
    "?fieldManager=x&fieldValidation=Strict",
    { ...(config({}) as object), foo: 1 },
    400,
    /unknown field "foo"/,
  ],
  ["that is no YAML", "?fieldManager=x", "a: [", 400, /YAML/],
];
for (const [name, query, body, status, message] of refusals) {
  test(`an apply ${name} is refused`, async () => {
    await using api = await TestApi.start();
    const answer = await api.apply(`${path}${query}`, body);
    assert.equal(answer.status, status, answer.text);
    assert.match(String(answer.body["message"]), message);
  });
}

test("force is for apply only", async () => {
  await using api = await TestApi.start();
  await api.given(configMapsPath, config({}));
  assert.equal((await api.merge(`${path}?force=true`, {})).status, 422);
});

test("updates of many managers are kept in few entries", async () => {
  await using api = await TestApi.start();
  await api.given(configMapsPath, config({}));
  for (let index = 0; index < 15; index++) {
    await api.merge(`${path}?fieldManager=m${index}`, { data: { [`k${index}`]: "v" } });
    await api.advance(1_000);
  }
  const managers = Object.keys(managersOf((await api.get(path)).body));
  assert.equal(managers.length, 10);
  assert.ok(managers.includes("ancient-changes/Update"));
});

const element = fc.constantFrom("f:a", "f:b", 'k:{"name":"x"}', 'v:"m"', "i:0");
const fieldSetOf = (depth: number): fc.Arbitrary<FieldSet> =>
  fc
    .tuple(
      fc.uniqueArray(element),
      depth === 0 ? fc.constant({}) : fc.dictionary(element, fieldSetOf(depth - 1), { maxKeys: 3 }),
    )
    .map(([members, children]) => {
      const kept = Object.entries<FieldSet>(children).filter(([, child]) => !child.isEmpty);
      return new FieldSet(new Set(members), new Map(kept));
    });
const fieldSet = fieldSetOf(2);

test("field sets survive their written form, and are sets", () => {
  fc.assert(
    fc.property(fieldSet, fieldSet, (a, b) => {
      assert.ok(parseFieldsV1(JSON.parse(JSON.stringify(composeFieldsV1(a))))?.equals(a));
      assert.ok(a.union(b).equals(b.union(a)));
      assert.ok(a.difference(b).intersection(b).isEmpty);
      assert.ok(a.difference(b).union(a.intersection(b)).equals(a));
    }),
  );
});

test("kubectl takes over what its client-side apply set, save what somebody else set otherwise since", async () => {
  await using api = await TestApi.start();
  const lastApplied = JSON.stringify(config({ a: "1", b: "1" }));
  const annotations = { "kubectl.kubernetes.io/last-applied-configuration": lastApplied };
  const created = await api.request("POST", `${configMapsPath}?fieldManager=kubectl-client-side-apply`, {
    body: config({ a: "1", b: "1" }, { annotations }),
  });
  assert.equal(created.status, 201);
  await api.merge(`${path}?fieldManager=other`, { data: { b: "2" } });
  const refused = await as(api, "kubectl", config({ a: "3", b: "3" }));
  assert.equal(refused.status, 409);
  assert.equal(
    refused.body["message"],
    'Apply failed with 1 conflict: conflict with "other" using v1 at 2026-01-01T00:00:00Z: .data.b',
  );
  const taken = await as(api, "kubectl", config({ a: "3", b: "2" }));
  assert.deepEqual(taken.body["data"], { a: "3", b: "2" });
});
