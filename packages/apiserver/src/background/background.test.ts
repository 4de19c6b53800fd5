import assert from "node:assert/strict";
import { test } from "node:test";
import { Simulation } from "@meridian/runtime/sim";
import { openMemoryStorage, StorageError, type Storage } from "../storage/index.ts";
import {
  configMap,
  configMapsPath,
  definitionsPath,
  namesOf,
  TestApi,
  type TestJson,
  widget,
  widgetDefinition,
  widgetsPath,
} from "../test-api.ts";

const secretsPath = "/api/v1/namespaces/default/secrets";

function owned(
  name: string,
  owners: readonly TestJson[],
  extra: Readonly<Record<string, unknown>> = {},
): unknown {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, ownerReferences: owners.map((owner) => ({ ...reference(owner), ...extra })) },
  };
}

function reference(owner: TestJson): Readonly<Record<string, unknown>> {
  return {
    apiVersion: owner["apiVersion"],
    kind: owner["kind"],
    name: owner["metadata"]?.["name"],
    uid: owner["metadata"]?.["uid"],
  };
}

async function configMaps(api: TestApi): Promise<readonly string[]> {
  return namesOf((await api.get(configMapsPath)).body);
}

test("a dependent goes when its owner is gone, a chain of them too", async () => {
  await using api = await TestApi.start();
  const owner = await api.given(secretsPath, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "owner" },
  });
  const child = await api.given(configMapsPath, owned("child", [owner]));
  await api.given(configMapsPath, owned("grandchild", [child]));
  await api.given(configMapsPath, configMap("free"));
  await api.delete(`${secretsPath}/owner`, { propagationPolicy: "Background" });
  await api.advance(2_000);
  assert.deepEqual(await configMaps(api), ["free"]);
});

test("a dependent whose owner never was, or is another object of the name, goes too", async () => {
  await using api = await TestApi.start();
  const owner = await api.given(secretsPath, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "owner" },
  });
  await api.given(
    configMapsPath,
    owned("a", [{ ...owner, metadata: { name: "owner", uid: "another" } } as unknown as TestJson]),
  );
  await api.given(
    configMapsPath,
    owned("b", [{ ...owner, metadata: { name: "nobody", uid: "x" } } as unknown as TestJson]),
  );
  await api.advance(2_000);
  assert.deepEqual(await configMaps(api), []);
});

test("one owner that lives keeps the dependent, and the dangling reference is dropped", async () => {
  await using api = await TestApi.start();
  const kept = await api.given(secretsPath, { apiVersion: "v1", kind: "Secret", metadata: { name: "kept" } });
  const gone = await api.given(secretsPath, { apiVersion: "v1", kind: "Secret", metadata: { name: "gone" } });
  await api.given(configMapsPath, owned("child", [kept, gone]));
  await api.delete(`${secretsPath}/gone`);
  await api.advance(2_000);
  const { body } = await api.get(`${configMapsPath}/child`);
  assert.deepEqual(body["metadata"]?.["ownerReferences"], [reference(kept)]);
});

test("an owner of a kind that nobody serves keeps its dependents", async () => {
  await using api = await TestApi.start();
  await api.given(configMapsPath, {
    ...configMap("child"),
    metadata: {
      name: "child",
      ownerReferences: [{ apiVersion: "example.com/v1", kind: "Unknown", name: "x", uid: "y" }],
    },
  });
  await api.advance(5_000);
  assert.deepEqual(await configMaps(api), ["child"]);
});

test("an owner's kind that comes later decides then", async () => {
  await using api = await TestApi.start();
  await api.given(configMapsPath, {
    ...configMap("child"),
    metadata: {
      name: "child",
      ownerReferences: [{ apiVersion: "example.com/v1", kind: "Widget", name: "gone", uid: "y" }],
    },
  });
  await api.advance(2_000);
  assert.deepEqual(await configMaps(api), ["child"]);
  await api.given(definitionsPath, widgetDefinition());
  await api.advance(2_000);
  assert.deepEqual(await configMaps(api), []);
});

test("a namespace never goes before a create that was under way", async () => {
  await using api = await TestApi.start();
  for (let round = 0; round < 20; round++) {
    const path = `/api/v1/namespaces/n${round}`;
    await api.given("/api/v1/namespaces", { metadata: { name: `n${round}` } });
    const racing = [
      ...Array.from({ length: round }, (_, index) =>
        api.post(`${path}/configmaps`, configMap(`before${index}`)),
      ),
      api.delete(path),
      ...Array.from({ length: 5 }, (_, index) => api.post(`${path}/configmaps`, configMap(`after${index}`))),
    ];
    await Promise.all(racing);
    await api.advance(2_000);
    assert.equal((await api.get(path)).status, 404);
    assert.deepEqual(namesOf((await api.get("/api/v1/configmaps")).body), []);
  }
});

test("deleted in the foreground, an owner waits for the dependents that block it", async () => {
  await using api = await TestApi.start();
  const owner = await api.given(secretsPath, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "owner" },
  });
  const blocking = owned("blocking", [owner], { blockOwnerDeletion: true }) as { readonly metadata: object };
  await api.given(configMapsPath, {
    ...blocking,
    metadata: { ...blocking.metadata, finalizers: ["example.com/hold"] },
  });
  await api.given(configMapsPath, owned("other", [owner]));
  const deleted = await api.delete(`${secretsPath}/owner`, { propagationPolicy: "Foreground" });
  assert.deepEqual(deleted.body["metadata"]?.["finalizers"], ["foregroundDeletion"]);
  await api.advance(5_000);
  assert.deepEqual(await configMaps(api), ["blocking"]);
  assert.equal((await api.get(`${secretsPath}/owner`)).status, 200);
  await api.merge(`${configMapsPath}/blocking`, { metadata: { finalizers: null } });
  await api.advance(2_000);
  assert.equal((await api.get(`${secretsPath}/owner`)).status, 404);
});

test("orphaned dependents stay, without the reference", async () => {
  await using api = await TestApi.start();
  const owner = await api.given(secretsPath, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "owner" },
  });
  await api.given(configMapsPath, owned("child", [owner]));
  await api.delete(`${secretsPath}/owner`, { propagationPolicy: "Orphan" });
  await api.advance(2_000);
  assert.equal((await api.get(`${secretsPath}/owner`)).status, 404);
  const { body } = await api.get(`${configMapsPath}/child`);
  assert.equal(body["metadata"]?.["ownerReferences"], undefined);
});

test("custom resources own and are owned", async () => {
  await using api = await TestApi.start();
  await api.given(definitionsPath, widgetDefinition());
  await api.advance(10);
  const owner = await api.given(widgetsPath, widget("owner"));
  await api.given(configMapsPath, owned("child", [owner]));
  await api.delete(`${widgetsPath}/owner`);
  await api.advance(2_000);
  assert.deepEqual(await configMaps(api), []);
});

test("a circle of objects that block each other is deleted in the foreground", async () => {
  await using api = await TestApi.start();
  const a = await api.given(configMapsPath, configMap("a"));
  const b = await api.given(configMapsPath, owned("b", [a], { blockOwnerDeletion: true }));
  await api.merge(`${configMapsPath}/a`, {
    metadata: { ownerReferences: [{ ...reference(b), blockOwnerDeletion: true }] },
  });
  await api.delete(`${configMapsPath}/a`, { propagationPolicy: "Foreground" });
  await api.advance(10_000);
  assert.deepEqual(await configMaps(api), []);
});

test("without the garbage collector dependents stay", async () => {
  await using api = await TestApi.start({ disabledControllers: ["garbage-collection"] });
  const owner = await api.given(secretsPath, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "owner" },
  });
  await api.given(configMapsPath, owned("child", [owner]));
  await api.delete(`${secretsPath}/owner`);
  await api.advance(5_000);
  assert.deepEqual(await configMaps(api), ["child"]);
});

test("every cluster has its namespaces, and they cannot be deleted", async () => {
  await using api = await TestApi.start();
  assert.deepEqual(namesOf((await api.get("/api/v1/namespaces")).body), [
    "default",
    "kube-public",
    "kube-system",
  ]);
  const { body, status } = await api.delete("/api/v1/namespaces/default");
  assert.equal(status, 403);
  assert.equal(body["reason"], "Forbidden");
});

test("a namespace begins active, with its finalizer and its label", async () => {
  await using api = await TestApi.start();
  const body = await api.given("/api/v1/namespaces", { metadata: { name: "n" } });
  assert.deepEqual(body["spec"], { finalizers: ["kubernetes"] });
  assert.deepEqual(body["status"], { phase: "Active" });
  assert.deepEqual(body["metadata"]?.["labels"], { "kubernetes.io/metadata.name": "n" });
});

test("deleting a namespace deletes what is in it, then the namespace", async () => {
  await using api = await TestApi.start();
  await api.given(definitionsPath, widgetDefinition());
  await api.given("/api/v1/namespaces", { metadata: { name: "n" } });
  await api.advance(10);
  await api.given("/api/v1/namespaces/n/configmaps", {
    ...configMap("held"),
    metadata: { name: "held", finalizers: ["example.com/hold"] },
  });
  await api.given("/apis/example.com/v1/namespaces/n/widgets", widget("w"));
  const deleted = await api.delete("/api/v1/namespaces/n");
  assert.equal(deleted.status, 200);
  assert.deepEqual(deleted.body["status"], { phase: "Terminating" });
  await api.advance(1_000);
  assert.deepEqual(namesOf((await api.get("/apis/example.com/v1/namespaces/n/widgets")).body), []);

  const refused = await api.post("/api/v1/namespaces/n/configmaps", configMap("late"));
  assert.equal(refused.status, 403);
  assert.equal(refused.body["details"]?.["causes"]?.[0]?.["reason"], "NamespaceTerminating");
  const waiting = await api.get("/api/v1/namespaces/n");
  assert.match(waiting.text, /"type":"NamespaceFinalizersRemaining","status":"True"/);
  assert.equal((await api.merge("/api/v1/namespaces/n/configmaps/held", { data: { k: "v" } })).status, 200);

  await api.merge("/api/v1/namespaces/n/configmaps/held", { metadata: { finalizers: null } });
  await api.advance(1_000);
  assert.equal((await api.get("/api/v1/namespaces/n")).status, 404);
});

test("events go an hour after they happened last", async () => {
  await using api = await TestApi.start();
  const path = "/api/v1/namespaces/default/events";
  await api.given(path, {
    metadata: { name: "old" },
    involvedObject: {},
    lastTimestamp: "2026-01-01T00:00:00Z",
  });
  await api.given(path, {
    metadata: { name: "new" },
    involvedObject: {},
    lastTimestamp: "2026-01-01T00:30:00Z",
  });
  await api.advance(62 * 60_000);
  assert.deepEqual(namesOf((await api.get(path)).body), ["new"]);
});

/** A store whose next deletions fail as those of a store that has too many writes under way. */
async function busyStorage(failures: number): Promise<Storage> {
  const { runtime } = new Simulation({ seed: 1 }).node({ name: "store", addresses: ["10.0.0.2"] });
  const storage = await openMemoryStorage(runtime, { persistent: false });
  let left = failures;
  return new Proxy(storage, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property);
      if (property === "delete" && left > 0) {
        return () => {
          left -= 1;
          return Promise.reject(new StorageError("Busy", "too many writes are under way; try again"));
        };
      }
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

test("a namespace and a definition go although the store was too busy to delete at first", async () => {
  await using api = await TestApi.start({ storage: await busyStorage(3) });
  await api.given("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "ns" } });
  await api.given("/api/v1/namespaces/ns/configmaps", configMap("a"));
  await api.given(definitionsPath, widgetDefinition());
  await api.advance(1_000);
  await api.given(widgetsPath, widget("w", { size: 1 }));
  await api.delete("/api/v1/namespaces/ns");
  await api.delete(`${definitionsPath}/widgets.example.com`);
  await api.advance(10_000);
  assert.equal((await api.get("/api/v1/namespaces/ns")).status, 404);
  assert.equal((await api.get(`${definitionsPath}/widgets.example.com`)).status, 404);
});
