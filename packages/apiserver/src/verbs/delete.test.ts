import assert from "node:assert/strict";
import { test } from "node:test";
import { configMap, configMapsPath, namesOf, TestApi } from "../test-api.ts";

const path = `${configMapsPath}/a`;

test("a deletion answers Success with the uid that kubectl waits for", async () => {
  await using api = await TestApi.start();
  const { uid } = (await api.given(configMapsPath, configMap("a")))["metadata"]!;
  const { body, status } = await api.delete(path, { propagationPolicy: "Background" });
  assert.equal(status, 200);
  assert.equal(body["status"], "Success");
  assert.deepEqual(body["details"], { name: "a", kind: "configmaps", uid });
  assert.equal((await api.delete(path)).status, 404);
});

test("some kinds answer the deleted object", async () => {
  await using api = await TestApi.start();
  const services = "/api/v1/namespaces/default/services";
  await api.given(services, { metadata: { name: "s" }, spec: {} });
  const { body } = await api.delete(`${services}/s`);
  assert.equal(body["kind"], "Service");
});

test("a finalizer keeps the object, marked; deleting it again changes nothing", async () => {
  await using api = await TestApi.start();
  await api.given(configMapsPath, {
    ...configMap("a"),
    metadata: { name: "a", finalizers: ["example.com/hold"] },
  });
  const { body, status } = await api.delete(path);
  assert.equal(status, 200);
  assert.equal(body["kind"], "ConfigMap");
  assert.match(String(body["metadata"]?.["deletionTimestamp"]), /Z$/);
  assert.equal(body["metadata"]?.["deletionGracePeriodSeconds"], 0);
  await api.advance(5_000);
  const again = await api.delete(path);
  assert.deepEqual(again.body, body);
});

test("preconditions must hold", async () => {
  await using api = await TestApi.start();
  await api.given(configMapsPath, configMap("a"));
  const uid = await api.delete(path, { preconditions: { uid: "other" } });
  assert.equal(uid.status, 409);
  assert.match(String(uid.body["message"]), /UID in the precondition \(other\)/);
  const version = await api.delete(path, { preconditions: { resourceVersion: "1" } });
  assert.equal(version.status, 409);
  assert.match(String(version.body["message"]), /ResourceVersion in the precondition \(1\)/);
});

const wrongOptions: readonly (readonly [string, unknown, number])[] = [
  ["an unknown policy", { propagationPolicy: "Later" }, 422],
  ["two ways of naming the policy", { propagationPolicy: "Orphan", orphanDependents: true }, 422],
  ["an unknown dry run", { dryRun: ["Some"] }, 422],
  ["a grace period that is no number", { gracePeriodSeconds: "soon" }, 400],
  ["a body of another kind", { kind: "ConfigMap" }, 400],
];
for (const [name, options, status] of wrongOptions) {
  test(`a deletion is refused for ${name}`, async () => {
    await using api = await TestApi.start();
    await api.given(configMapsPath, configMap("a"));
    const answer = await api.delete(path, options);
    assert.equal(answer.status, status, answer.text);
    assert.equal((await api.get(path)).status, 200);
  });
}

test("options may stand in the query, and a dry run deletes nothing", async () => {
  await using api = await TestApi.start();
  await api.given(configMapsPath, configMap("a"));
  assert.equal((await api.delete(`${path}?dryRun=All`)).status, 200);
  assert.equal((await api.get(path)).status, 200);
  const foreground = await api.delete(`${path}?propagationPolicy=Foreground&dryRun=All`);
  assert.deepEqual(foreground.body["metadata"]?.["finalizers"], ["foregroundDeletion"]);
});

test("a pod that runs gets its grace period, one that runs nowhere goes at once", async () => {
  await using api = await TestApi.start();
  const pods = "/api/v1/namespaces/default/pods";
  await api.given(pods, { metadata: { name: "idle" }, spec: {} });
  await api.given(pods, { metadata: { name: "busy" }, spec: { nodeName: "n1" } });
  await api.delete(`${pods}/idle`);
  assert.equal((await api.get(`${pods}/idle`)).status, 404);
  const { body } = await api.delete(`${pods}/busy`);
  assert.equal(body["metadata"]?.["deletionGracePeriodSeconds"], 30);
  const shorter = await api.delete(`${pods}/busy`, { gracePeriodSeconds: 5 });
  assert.equal(shorter.body["metadata"]?.["deletionGracePeriodSeconds"], 5);
  const longer = await api.delete(`${pods}/busy`, { gracePeriodSeconds: 50 });
  assert.equal(longer.body["metadata"]?.["deletionGracePeriodSeconds"], 5);
  await api.delete(`${pods}/busy`, { gracePeriodSeconds: 0 });
  assert.equal((await api.get(`${pods}/busy`)).status, 404);
});

test("a collection is deleted by selector, and what was deleted is answered", async () => {
  await using api = await TestApi.start();
  for (const name of ["a", "b", "c"]) {
    await api.given(configMapsPath, {
      ...configMap(name),
      metadata: { name, labels: { keep: String(name === "b") } },
    });
  }
  const { body, status } = await api.delete(`${configMapsPath}?labelSelector=keep%3Dfalse`);
  assert.equal(status, 200);
  assert.deepEqual(namesOf(body), ["a", "c"]);
  const left = await api.get(configMapsPath);
  assert.deepEqual(namesOf(left.body), ["b"]);
  assert.equal((await api.delete("/api/v1/configmaps")).status, 405);
});

test("options of a wrong type are refused, also as integers beyond 2^53", async () => {
  await using api = await TestApi.start();
  await api.given(configMapsPath, configMap("a"));
  for (const body of ['{"kind":9007199254740993}', '{"gracePeriodSeconds":9007199254740993}']) {
    assert.equal((await api.request("DELETE", path, { body })).status, 400, body);
  }
});

test("who asks by orphanDependents hears 202 while the object still goes", async () => {
  await using api = await TestApi.start();
  const held = { ...configMap("a"), metadata: { name: "a", finalizers: ["example.com/hold"] } };
  await api.given(configMapsPath, held);
  assert.equal((await api.delete(path, { orphanDependents: false })).status, 202);
  await api.merge(path, { metadata: { finalizers: null } });
  await api.given(configMapsPath, configMap("a"));
  assert.equal((await api.delete(path, { orphanDependents: false })).status, 200);
});
