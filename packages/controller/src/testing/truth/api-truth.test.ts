import assert from "node:assert/strict";
import { test } from "node:test";
import { configMapType, leaseType, namespaceType, seriesEventType, serviceType } from "@meridian/kube";
import type { ConfigMap, KubeObject, Lease, ResourceType } from "@meridian/kube";
import { Informer } from "../../informer/informer.ts";
import { HandlerHistory } from "../programs/handler-history.ts";
import { testApi } from "../test-api.ts";
import type { TestApi } from "../test-api.ts";

const types = [configMapType, leaseType, serviceType];
const ref = { namespace: "n", name: "a" };

function configMap(name: string, data: Readonly<Record<string, string>> = {}, rest: object = {}): ConfigMap {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "n", name, ...rest }, data };
}

/** Each case works on an API with one ConfigMap `a`, and its requests pass while time stands still. */
const cases: Readonly<Record<string, (api: TestApi, a: ConfigMap) => Promise<unknown>>> = {
  "an object gets uid, version and age once": async ({ client, truth }, a) => {
    assert.match(a.metadata.uid ?? "", /^[0-9a-f-]{36}$/);
    assert.equal(a.metadata.resourceVersion, String(truth.version));
    assert.equal(a.metadata.creationTimestamp, "2026-01-01T00:00:00Z");
    const changed = await client.update(configMapType, { ...a, data: { v: "2" } });
    assert.deepEqual({ ...changed.metadata, resourceVersion: "" }, { ...a.metadata, resourceVersion: "" });
  },
  "a write that changes nothing is no new version": async ({ client, truth }, a) => {
    const { version } = truth;
    await client.update(configMapType, a);
    assert.equal(truth.version, version);
  },
  "of two writes over one state the second is refused": async ({ client }, a) => {
    await client.update(configMapType, { ...a, data: { v: "2" } });
    await assert.rejects(client.update(configMapType, { ...a, data: { v: "3" } }), {
      code: 409,
      reason: "Conflict",
    });
  },
  "names are taken once, and generated ones differ": async ({ client }) => {
    await assert.rejects(client.create(configMapType, configMap("a")), { reason: "AlreadyExists" });
    const generated = (): Promise<ConfigMap> =>
      client.create<ConfigMap>(configMapType, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { namespace: "n", generateName: "b-" },
      });
    assert.notEqual((await generated()).metadata.name, (await generated()).metadata.name);
  },
  "what is not there is not found, and what is not served neither": async ({ client }) => {
    await assert.rejects(client.get(configMapType, { namespace: "n", name: "b" }), { reason: "NotFound" });
    await assert.rejects(client.list({ ...configMapType, plural: "others" }), { code: 404 });
  },
  "pages are of one version, and expire with it": async ({ client, truth }) => {
    for (const name of ["b", "c"]) truth.put(configMap(name));
    const first = await client.list<ConfigMap>(configMapType, { limit: 2 });
    truth.remove(configMapType, { namespace: "n", name: "c" });
    const continueToken = first.metadata.continue ?? "";
    const second = await client.list<ConfigMap>(configMapType, { limit: 2, continueToken });
    const names = [...first.items, ...second.items].map(({ metadata }) => metadata.name);
    assert.deepEqual(names, ["a", "b", "c"]);
    truth.compact();
    await assert.rejects(client.list(configMapType, { limit: 2, continueToken }), { reason: "Expired" });
  },
  "selectors and namespaces choose": async ({ client, truth }) => {
    truth.put(configMap("b", {}, { labels: { app: "web" } }));
    truth.put(configMap("c", {}, { namespace: "m" }));
    const names = async (options: object): Promise<readonly (string | undefined)[]> =>
      (await client.list(configMapType, options)).items.map(({ metadata }) => metadata.name);
    assert.deepEqual(await names({ labelSelector: "app=web" }), ["b"]);
    assert.deepEqual(await names({ fieldSelector: "metadata.name=a" }), ["a"]);
    assert.deepEqual(await names({ namespace: "m" }), ["c"]);
  },
  "patches merge, replace by path, and create where they are applied": async ({ client }) => {
    const merged = await client.patch<ConfigMap>(configMapType, ref, {
      type: "merge",
      body: { data: { v: null, w: "2" } },
    });
    assert.deepEqual(merged.data, { w: "2" });
    const body = [{ op: "replace", path: "/data/w", value: "3" }];
    assert.deepEqual((await client.patch<ConfigMap>(configMapType, ref, { type: "json", body })).data, {
      w: "3",
    });
    const applied = await client.apply<ConfigMap>(configMapType, configMap("new", { v: "1" }), {
      fieldManager: "t",
    });
    assert.deepEqual([applied.metadata.name, applied.data], ["new", { v: "1" }]);
  },
  "the halves of an object are written apart, and only a new spec is a new generation": async ({
    client,
  }) => {
    type Halves = KubeObject & {
      readonly spec: { readonly v: number };
      readonly status?: { readonly v: number };
    };
    const { group, version, plural, kind, namespaced } = serviceType;
    const halves: ResourceType<Halves> = { group, version, plural, kind, namespaced };
    const sent: Halves = {
      apiVersion: "v1",
      kind: "Service",
      metadata: { namespace: "n", name: "web" },
      spec: { v: 1 },
    };
    const created = await client.create<Halves>(halves, sent);
    const told = await client.updateStatus<Halves>(halves, {
      ...created,
      spec: { v: 9 },
      status: { v: 1 },
    });
    assert.deepEqual([told.spec, told.status, told.metadata.generation], [{ v: 1 }, { v: 1 }, 1]);
    const { status: _, ...rest } = told;
    const changed = await client.update<Halves>(halves, { ...rest, spec: { v: 2 } });
    assert.deepEqual([changed.spec, changed.status, changed.metadata.generation], [{ v: 2 }, { v: 1 }, 2]);
  },
  "a finalizer holds a deleted object until it is gone": async ({ client, truth }, a) => {
    await client.update(configMapType, { ...a, metadata: { ...a.metadata, finalizers: ["x.y/z"] } });
    await client.delete(configMapType, ref);
    const deleting = truth.get<ConfigMap>(configMapType, ref);
    assert.ok(deleting?.metadata.deletionTimestamp !== undefined);
    await client.update(configMapType, { ...deleting, metadata: { ...deleting.metadata, finalizers: [] } });
    assert.equal(truth.get(configMapType, ref), undefined);
  },
  "a deletion keeps its preconditions": async ({ client, truth }) => {
    await assert.rejects(client.delete(configMapType, ref, { preconditions: { uid: "another" } }), {
      code: 409,
    });
    assert.ok(truth.get(configMapType, ref) !== undefined);
  },
  "the times of a lease have six decimals, or it is refused": async ({ client, clock }) => {
    const lease = (renewTime: string): Lease => ({
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { namespace: "n", name: "l" },
      spec: { renewTime },
    });
    const milliseconds = new Date(clock.now()).toISOString();
    await assert.rejects(client.create(leaseType, lease(milliseconds)), { code: 400 });
    await client.create(leaseType, lease(milliseconds.replace("Z", "000Z")));
  },
};

for (const [name, run] of Object.entries(cases)) {
  test(`in an API for tests ${name}`, async () => {
    const api = testApi({ types, unserved: "answer" });
    await api.clock.outcome(run(api, api.truth.put(configMap("a", { v: "1" }))));
  });
}

test("a kind that the test forgot is named by every wait, however often a controller would ask for it", async () => {
  const { client, clock, runtime } = testApi({ types: [configMapType] });
  const copy = new Informer<KubeObject>(runtime, { client, type: serviceType });
  const stopping = new AbortController();
  void copy.run(stopping.signal);
  const named = {
    message:
      `this test's API serves no services of v1; add its type to "types", ` +
      `or let "unserved" be "answer" if the test is about its absence`,
  };
  await assert.rejects(
    clock.until(() => copy.hasSynced),
    named,
  );
  await assert.rejects(clock.advance(1_000), named);
  stopping.abort();
});

test("what the test forgot is named as the request names it", async () => {
  const event: KubeObject = {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: { namespace: "n", name: "e" },
  };
  const routeType = { group: "e.com", version: "v1", plural: "routes", kind: "Route", namespaced: false };
  const forgotten: readonly (readonly [RegExp, (client: TestApi["client"]) => Promise<unknown>])[] = [
    [
      / no Event \(events of events\.k8s\.io\/v1\);/,
      (client) => client.create<KubeObject>(seriesEventType, event),
    ],
    [/ no leases of coordination\.k8s\.io\/v1;/, (client) => client.get(leaseType, ref)],
    [/ no routes of e\.com\/v1;/, (client) => client.list(routeType)],
    [/ no namespaces of v1;/, (client) => client.get(namespaceType, { name: "n" })],
    [
      / no namespaces of v1;/,
      (client) => client.get(namespaceType, { name: "n" }, { subresource: "status" }),
    ],
  ];
  for (const [message, ask] of forgotten) {
    const { client, clock } = testApi({ types: [configMapType] });
    await assert.rejects(clock.outcome(ask(client)), { message });
    const answering = testApi({ types: [configMapType], unserved: "answer" });
    await assert.rejects(answering.clock.outcome(ask(answering.client)), {
      name: "ApiError",
      code: 404,
      message,
    });
  }
  const other = testApi({ types: [configMapType] });
  await assert.rejects(other.clock.outcome(other.client.getRaw("/apis")), { code: 404 });
});

test("a watch of a part sees who joins and leaves it, from any version that is not compacted", async () => {
  const { client, clock, truth } = testApi({ types });
  truth.put(configMap("a", {}, { labels: { app: "web" } }));
  const start = String(truth.version);
  truth.put(configMap("a", {}, { labels: {} }));
  truth.put(configMap("b", {}, { labels: { app: "web" } }));
  truth.remove(configMapType, { namespace: "n", name: "b" });
  const watch = (resourceVersion: string): Promise<readonly string[]> =>
    clock.outcome(
      (async () => {
        const told: string[] = [];
        const options = { resourceVersion, labelSelector: "app=web", timeoutSeconds: 1 };
        for await (const { type, object } of await client.watch<ConfigMap>(configMapType, options)) {
          if (type !== "ERROR")
            told.push(`${type} ${object.metadata.name}@${object.metadata.resourceVersion}`);
        }
        return told;
      })(),
    );
  assert.deepEqual(await watch(start), ["DELETED a@12", "ADDED b@13", "DELETED b@14"]);
  truth.tick();
  truth.compact();
  await assert.rejects(watch(start), { reason: "Expired" });
});

test("a copy stands still until its time goes on, and leaves nothing behind", async () => {
  const { client, clock, truth, runtime } = testApi({ types });
  truth.put(configMap("a"));
  const copy = new Informer<ConfigMap>(runtime, { client, type: configMapType });
  const stopping = new AbortController();
  const running = copy.run(stopping.signal);
  await clock.until(() => copy.connected);
  assert.equal(truth.openWatches, 1);
  truth.put(configMap("b"));
  assert.equal(copy.lister.list().length, 1);
  await clock.advance(1);
  assert.equal(copy.lister.list().length, 2);
  stopping.abort();
  await clock.outcome(running);
  assert.deepEqual([truth.openWatches, clock.pendingTimers], [0, 0]);
});

test("a copy of a server that goes back to a backup goes back, too", async () => {
  const { client, clock, truth, runtime } = testApi({ types });
  truth.put(configMap("a", { v: "1" }));
  const { version } = truth;
  const copy = new Informer<ConfigMap>(runtime, { client, type: configMapType });
  const history = new HandlerHistory<ConfigMap>();
  copy.addHandler(history.handler);
  const stopping = new AbortController();
  const running = copy.run(stopping.signal);
  await clock.until(() => copy.connected);
  truth.put(configMap("a", { v: "2" }));
  truth.put(configMap("b"));
  await clock.advance(5_000);
  assert.equal(copy.lister.list().length, 2);
  truth.restore(version);
  await clock.advance(120_000);
  assert.deepEqual(copy.lister.list(), truth.list(configMapType));
  truth.put(configMap("c"));
  await clock.advance(1_000);
  assert.deepEqual(copy.lister.keys ? [...copy.lister.keys()] : [], ["n/a", "n/c"]);
  assert.deepEqual([...history.objects.keys()].sort(), ["n/a", "n/c"]);
  stopping.abort();
  await clock.outcome(running);
});

test("a wall clock that jumps does not move what is measured", async () => {
  const { clock } = testApi({ types });
  const [wallMs, startMs] = [clock.now(), clock.monotonicMs()];
  clock.jumpWall(-3_600_000);
  await clock.advance(1_000);
  assert.equal(clock.now() - wallMs, -3_599_000);
  assert.equal(Math.round(clock.monotonicMs() - startMs), 1_000);
  await assert.rejects(
    clock.until(() => false, { withinMs: 1_000 }),
    /does not hold/,
  );
});
