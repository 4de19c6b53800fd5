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

async function apiWithWidget(): Promise<TestApi> {
  const api = await TestApi.start();
  await api.given(definitionsPath, widgetDefinition());
  await api.advance(10);
  await api.given(widgetsPath, widget("w", { size: 1 }));
  return api;
}

test("an update that names a stale resourceVersion conflicts, and one that names none overwrites", async () => {
  await using api = await TestApi.start();
  const created = await api.given(configMapsPath, configMap("a", { k: "1" }));
  const { resourceVersion } = created["metadata"]!;
  const first = await api.put(`${configMapsPath}/a`, { ...created, data: { k: "2" } });
  assert.equal(first.status, 200);
  const stale = await api.put(`${configMapsPath}/a`, { ...created, data: { k: "3" } });
  assert.equal(stale.status, 409);
  assert.equal(stale.body["reason"], "Conflict");
  assert.equal(
    stale.body["message"],
    'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
  );
  assert.deepEqual(stale.body["details"], { name: "a", kind: "configmaps" });
  const blind = await api.put(`${configMapsPath}/a`, configMap("a", { k: "4" }));
  assert.equal(blind.status, 200);
  assert.notEqual(blind.body["metadata"]?.["resourceVersion"], resourceVersion);
});

test("custom resources and leases must name the resourceVersion that they saw", async () => {
  await using api = await apiWithWidget();
  const answer = await api.put(`${widgetsPath}/w`, widget("w", { size: 2 }));
  assert.equal(answer.status, 422);
  assert.match(
    String(answer.body["message"]),
    /metadata.resourceVersion: Invalid value: 0: must be specified for an update/,
  );
});

test("an update that changes nothing is not written", async () => {
  await using api = await TestApi.start();
  const created = await api.given(configMapsPath, configMap("a", { k: "1" }));
  const watch = await api.watch(
    `${configMapsPath}?watch=1&resourceVersion=${created["metadata"]?.["resourceVersion"]}`,
  );
  const same = await api.put(`${configMapsPath}/a`, created);
  assert.equal(same.body["metadata"]?.["resourceVersion"], created["metadata"]?.["resourceVersion"]);
  await watch.settle();
  assert.deepEqual(watch.events, []);
  watch.stop();
});

test("a uid is a precondition, and metadata that the server owns is kept", async () => {
  await using api = await TestApi.start();
  const created = await api.given(configMapsPath, configMap("a"));
  const other = await api.put(`${configMapsPath}/a`, {
    ...configMap("a"),
    metadata: { name: "a", uid: "other" },
  });
  assert.equal(other.status, 409);
  const kept = await api.put(`${configMapsPath}/a`, {
    ...configMap("a"),
    metadata: { name: "a", labels: { x: "y" } },
  });
  assert.equal(kept.body["metadata"]?.["uid"], created["metadata"]?.["uid"]);
  assert.equal(kept.body["metadata"]?.["creationTimestamp"], created["metadata"]?.["creationTimestamp"]);
  const renamed = await api.put(`${configMapsPath}/a`, configMap("b"));
  assert.equal(renamed.status, 400);
});

test("generation counts changes of the specification, not of metadata or status", async () => {
  await using api = await apiWithWidget();
  const generation = async (): Promise<unknown> =>
    (await api.get(`${widgetsPath}/w`)).body["metadata"]?.["generation"];
  assert.equal(await generation(), 1);
  await api.merge(`${widgetsPath}/w`, { metadata: { labels: { a: "b" } } });
  assert.equal(await generation(), 1);
  await api.merge(`${widgetsPath}/w/status`, { status: { ready: true } });
  assert.equal(await generation(), 1);
  await api.merge(`${widgetsPath}/w`, { spec: { size: 2 } });
  assert.equal(await generation(), 2);
});

test("the main path ignores the status, and the status path everything else", async () => {
  await using api = await apiWithWidget();
  const main = await api.merge(`${widgetsPath}/w`, { spec: { size: 3 }, status: { ready: true } });
  assert.equal(main.body["status"], undefined);
  const status = await api.merge(`${widgetsPath}/w/status`, {
    metadata: { labels: { a: "b" } },
    spec: { size: 9 },
    status: { ready: true },
  });
  assert.deepEqual(status.body["status"], { ready: true });
  assert.equal(status.body["spec"]?.["size"], 3);
  assert.equal(status.body["metadata"]?.["labels"], undefined);
});

test("a missing object answers NotFound, and kinds that elect leaders create it", async () => {
  await using api = await TestApi.start();
  const missing = await api.put(`${configMapsPath}/a`, configMap("a"));
  assert.equal(missing.status, 404);
  assert.equal(missing.body["message"], 'configmaps "a" not found');
  const lease = await api.put("/apis/coordination.k8s.io/v1/namespaces/default/leases/l", {
    metadata: { name: "l" },
    spec: {},
  });
  assert.equal(lease.status, 201);
});

test("finalizers may go but not come while an object is being deleted; the last one takes it along", async () => {
  await using api = await TestApi.start();
  await api.given(configMapsPath, {
    ...configMap("a"),
    metadata: { name: "a", finalizers: ["example.com/hold"] },
  });
  await api.delete(`${configMapsPath}/a`);
  const more = await api.merge(`${configMapsPath}/a`, {
    metadata: { finalizers: ["example.com/hold", "example.com/more"] },
  });
  assert.equal(more.status, 422);
  assert.match(String(more.body["message"]), /metadata.finalizers: Forbidden/);
  const last = await api.merge(`${configMapsPath}/a`, { metadata: { finalizers: null } });
  assert.equal(last.status, 200);
  assert.equal((await api.get(`${configMapsPath}/a`)).status, 404);
});

test("integers beyond 2^53 survive", async () => {
  await using api = await apiWithWidget();
  const body = '{"spec":{"big":9007199254740993}}';
  const answer = await api.request("PATCH", `${widgetsPath}/w`, {
    body,
    contentType: "application/merge-patch+json",
  });
  assert.equal(answer.status, 200, answer.text);
  assert.match(answer.text, /"big":9007199254740993\b/);
  assert.match((await api.get(`${widgetsPath}/w`)).text, /"big":9007199254740993\b/);
});

test("a namespace that is put without its finalizers keeps them, and its content goes with it", async () => {
  await using api = await TestApi.start();
  await api.given("/api/v1/namespaces", { metadata: { name: "n" } });
  await api.given("/api/v1/namespaces/n/configmaps", configMap("a"));
  const put = await api.put("/api/v1/namespaces/n", { metadata: { name: "n", labels: { x: "y" } } });
  assert.deepEqual(put.body["spec"]?.["finalizers"], ["kubernetes"]);
  await api.delete("/api/v1/namespaces/n");
  await api.advance(2_000);
  assert.equal((await api.get("/api/v1/namespaces/n")).status, 404);
  assert.equal((await api.get("/api/v1/namespaces/n/configmaps/a")).status, 404);
});

const sentTimes = (stored: string): readonly string[] => [
  stored,
  stored.replace("Z", ".000Z"),
  stored.replace("Z", ".987654Z"),
  stored.replace("T00", "T02").replace("Z", "+02:00"),
];
test("a time counts, not how a client writes it", async () => {
  await using api = await TestApi.start();
  const created = await api.given(configMapsPath, configMap("a"));
  for (const creationTimestamp of sentTimes(String(created["metadata"]?.["creationTimestamp"]))) {
    const body = {
      ...created,
      metadata: { ...(created["metadata"] as unknown as object), creationTimestamp },
    };
    const put = await api.put(`${configMapsPath}/a`, body);
    assert.equal(put.status, 200, put.text);
    assert.deepEqual(put.body, created);
  }
  const other = { ...configMap("a"), metadata: { name: "a", creationTimestamp: "2001-01-01T00:00:00Z" } };
  assert.equal((await api.put(`${configMapsPath}/a`, other)).status, 422);
  const none = { ...configMap("a"), metadata: { name: "a", creationTimestamp: "yesterday" } };
  assert.equal((await api.put(`${configMapsPath}/a`, none)).status, 400);
});
