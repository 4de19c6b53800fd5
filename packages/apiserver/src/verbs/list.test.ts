import assert from "node:assert/strict";
import { test } from "node:test";
import { configMap, configMapsPath, namesOf, TestApi } from "../test-api.ts";

async function apiWith(names: readonly string[]): Promise<TestApi> {
  const api = await TestApi.start();
  for (const name of names) await api.given(configMapsPath, configMap(name));
  return api;
}

test("a list of nothing has a version, and an array", async () => {
  await using api = await TestApi.start();
  const { body } = await api.get(configMapsPath);
  assert.equal(body["kind"], "ConfigMapList");
  assert.deepEqual(body["items"], []);
  assert.match(String(body["metadata"]?.["resourceVersion"]), /^[1-9]\d*$/);
});

test("items of built-in lists leave out kind and version", async () => {
  await using api = await apiWith(["a"]);
  const { body } = await api.get(configMapsPath);
  assert.equal(body["items"]?.[0]?.["kind"], undefined);
});

test("a namespace's list never holds what is in a namespace with a longer name", async () => {
  await using api = await apiWith(["a"]);
  await api.given("/api/v1/namespaces", { metadata: { name: "defaults" } });
  await api.given("/api/v1/namespaces/defaults/configmaps", configMap("b"));
  assert.deepEqual(namesOf((await api.get(configMapsPath)).body), ["a"]);
  assert.deepEqual(namesOf((await api.get("/api/v1/configmaps")).body), ["a", "b"]);
});

test("pages show one state, in key order, and count what is left", async () => {
  await using api = await apiWith(["a", "b", "c", "d", "e"]);
  const first = await api.get(`${configMapsPath}?limit=2`);
  assert.deepEqual(namesOf(first.body), ["a", "b"]);
  assert.equal(first.body["metadata"]?.["remainingItemCount"], 3);
  await api.delete(`${configMapsPath}/d`);
  await api.given(configMapsPath, configMap("bb"));
  const token = encodeURIComponent(String(first.body["metadata"]?.["continue"]));
  const second = await api.get(`${configMapsPath}?limit=2&continue=${token}`);
  assert.deepEqual(namesOf(second.body), ["c", "d"]);
  assert.equal(second.body["metadata"]?.["resourceVersion"], first.body["metadata"]?.["resourceVersion"]);
  const next = encodeURIComponent(String(second.body["metadata"]?.["continue"]));
  const last = await api.get(`${configMapsPath}?limit=2&continue=${next}`);
  assert.deepEqual(namesOf(last.body), ["e"]);
  assert.equal(last.body["metadata"]?.["continue"], undefined);
  assert.equal(last.body["metadata"]?.["remainingItemCount"], undefined);
});

test("pages with a selector are cut by what matches", async () => {
  await using api = await TestApi.start();
  for (let index = 0; index < 30; index++) {
    const name = `m${String(index).padStart(2, "0")}`;
    await api.given(configMapsPath, {
      ...configMap(name),
      metadata: { name, labels: { third: String(index % 3 === 0) } },
    });
  }
  const first = await api.get(`${configMapsPath}?limit=4&labelSelector=third%3Dtrue`);
  assert.deepEqual(namesOf(first.body), ["m00", "m03", "m06", "m09"]);
  assert.equal(first.body["metadata"]?.["remainingItemCount"], undefined);
});

test("an expired token offers one that goes on at the newest state", async () => {
  await using api = await apiWith(["a", "b", "c"]);
  const first = await api.get(`${configMapsPath}?limit=1`);
  await api.given(configMapsPath, configMap("bb"));
  await api.storage.compact(api.storage.revision());
  const token = encodeURIComponent(String(first.body["metadata"]?.["continue"]));
  const expired = await api.get(`${configMapsPath}?limit=2&continue=${token}`);
  assert.equal(expired.status, 410);
  assert.equal(expired.body["reason"], "Expired");
  const newToken = encodeURIComponent(String(expired.body["metadata"]?.["continue"]));
  const resumed = await api.get(`${configMapsPath}?limit=2&continue=${newToken}`);
  assert.equal(resumed.status, 200, resumed.text);
  assert.deepEqual(namesOf(resumed.body), ["b", "bb"]);
});

const tokenOf = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const badTokens: readonly (readonly [string, string])[] = [
  ["is no base64", "!!!"],
  ["is no JSON", Buffer.from("nope").toString("base64url")],
  ["leads out of the collection", tokenOf({ v: "meta.k8s.io/v1", rv: 5, start: "../secrets/x\0" })],
  ["begins at the root", tokenOf({ v: "meta.k8s.io/v1", rv: 5, start: "/x" })],
  ["has no start", tokenOf({ v: "meta.k8s.io/v1", rv: 5, start: "" })],
  ["has a version that is none", tokenOf({ v: "meta.k8s.io/v1", rv: 0.5, start: "a" })],
  ["is of another form", tokenOf({ v: "v2", rv: 5, start: "a" })],
];
for (const [name, token] of badTokens) {
  test(`a continue token is refused that ${name}`, async () => {
    await using api = await apiWith(["a"]);
    const { body, status } = await api.get(`${configMapsPath}?limit=1&continue=${token}`);
    assert.equal(status, 400);
    assert.match(String(body["message"]), /continue key is not valid/);
  });
}

const invalidOptions: readonly (readonly [query: string, field: string])[] = [
  ["resourceVersionMatch=Exact", "resourceVersionMatch"],
  ["resourceVersionMatch=Exact&resourceVersion=5&continue=x", "resourceVersionMatch"],
  ["resourceVersionMatch=Sometimes&resourceVersion=5", "resourceVersionMatch"],
  ["resourceVersionMatch=Exact&resourceVersion=0", "resourceVersionMatch"],
  ["sendInitialEvents=true", "sendInitialEvents"],
];
for (const [query, field] of invalidOptions) {
  test(`a list with ${query} is invalid`, async () => {
    await using api = await apiWith([]);
    const { body, status } = await api.get(`${configMapsPath}?${query}`);
    assert.equal(status, 422);
    assert.equal(body["details"]?.["kind"], "ListOptions");
    assert.equal(body["details"]?.["group"], "meta.k8s.io");
    assert.equal(body["details"]?.["causes"]?.[0]?.["field"], field);
  });
}

const badRequests = [
  "resourceVersion=abc",
  "resourceVersion=-1",
  "labelSelector=a%20b%20c",
  "fieldSelector=spec.color%3Dred",
  "continue=x&resourceVersion=5",
];
for (const query of badRequests) {
  test(`a list with ${query} is a bad request`, async () => {
    await using api = await apiWith([]);
    assert.equal((await api.get(`${configMapsPath}?${query}`)).status, 400);
  });
}

test("a version of the past is shown exactly, a compacted one is Expired", async () => {
  await using api = await apiWith(["a"]);
  const then = String((await api.get(configMapsPath)).body["metadata"]?.["resourceVersion"]);
  await api.given(configMapsPath, configMap("b"));
  const exact = await api.get(`${configMapsPath}?resourceVersion=${then}&resourceVersionMatch=Exact`);
  assert.deepEqual(namesOf(exact.body), ["a"]);
  assert.equal(exact.body["metadata"]?.["resourceVersion"], then);
  const legacy = await api.get(`${configMapsPath}?resourceVersion=${then}&limit=5`);
  assert.deepEqual(namesOf(legacy.body), ["a"]);
  const newer = await api.get(`${configMapsPath}?resourceVersion=${then}&resourceVersionMatch=NotOlderThan`);
  assert.deepEqual(namesOf(newer.body), ["a", "b"]);
  await api.storage.compact(api.storage.revision());
  const gone = await api.get(`${configMapsPath}?resourceVersion=${then}&resourceVersionMatch=Exact`);
  assert.equal(gone.status, 410);
});

test("a version of the future is waited for, then refused as too large", async () => {
  await using api = await apiWith(["a"]);
  const future = Number(api.storage.revision()) + 1;
  const reached = api.get(`${configMapsPath}?resourceVersion=${future}`);
  await api.given(configMapsPath, configMap("b"));
  await api.advance(200);
  assert.deepEqual(namesOf((await reached).body), ["a", "b"]);
  const never = api.get(`${configMapsPath}?resourceVersion=${future + 100}`);
  await api.advance(4_000);
  const { body, headers, status } = await never;
  assert.equal(status, 504);
  assert.equal(body["reason"], "Timeout");
  assert.equal(body["details"]?.["causes"]?.[0]?.["reason"], "ResourceVersionTooLarge");
  assert.equal(headers["retry-after"], "1");
});

test("fields select by name, namespace and what the kind declares", async () => {
  await using api = await apiWith(["a", "b"]);
  assert.deepEqual(namesOf((await api.get(`${configMapsPath}?fieldSelector=metadata.name%3Db`)).body), ["b"]);
  assert.deepEqual(
    namesOf((await api.get("/api/v1/configmaps?fieldSelector=metadata.namespace%21%3Ddefault")).body),
    [],
  );
  const pods = "/api/v1/namespaces/default/pods";
  await api.given(pods, { metadata: { name: "p" }, spec: { nodeName: "n1" } });
  assert.deepEqual(namesOf((await api.get(`${pods}?fieldSelector=spec.nodeName%3Dn1`)).body), ["p"]);
  assert.deepEqual(namesOf((await api.get(`${pods}?fieldSelector=status.phase%3DRunning`)).body), []);
});

test("a list that takes any version is not cut into pages", async () => {
  await using api = await apiWith(["a", "b", "c"]);
  const { body } = await api.get(`${configMapsPath}?limit=2&resourceVersion=0`);
  assert.deepEqual(namesOf(body), ["a", "b", "c"]);
  assert.equal(body["metadata"]?.["continue"], undefined);
});

test("limits below 1 mean none", async () => {
  await using api = await apiWith(["a", "b"]);
  assert.deepEqual(namesOf((await api.get(`${configMapsPath}?limit=-5`)).body), ["a", "b"]);
  assert.deepEqual(namesOf((await api.get(`${configMapsPath}?limit=0`)).body), ["a", "b"]);
});

test("the same events are listed under both of their groups", async () => {
  await using api = await TestApi.start();
  const events = {
    core: "/api/v1/namespaces/default/events",
    newer: "/apis/events.k8s.io/v1/namespaces/default/events",
  };
  await api.given(events.core, {
    metadata: { name: "e" },
    involvedObject: { kind: "Pod", name: "p" },
    message: "hello",
    source: { component: "c" },
  });
  const { body } = await api.get(`${events.newer}/e`);
  assert.equal(body["apiVersion"], "events.k8s.io/v1");
  assert.equal(body["note"], "hello");
  assert.deepEqual(body["regarding"], { kind: "Pod", name: "p" });
  assert.equal(body["message"], undefined);
  await api.merge(`${events.newer}/e`, { note: "changed" });
  assert.equal((await api.get(`${events.core}/e`)).body["message"], "changed");
  const selected = await api.get(`${events.newer}?fieldSelector=regarding.name%3Dp`);
  assert.deepEqual(namesOf(selected.body), ["e"]);
});
