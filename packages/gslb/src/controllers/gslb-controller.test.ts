import assert from "node:assert/strict";
import { test } from "node:test";
import { notFound, type KubeObject } from "@meridian/kube";
import type { Runtime } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import type { Gslb } from "../resources/gslb.ts";
import { GslbController, type GslbControllerOptions } from "./gslb-controller.ts";

const echo = async <T extends KubeObject>(_type: unknown, object: T): Promise<T> => object;

/** A controller of one Gslb, alone in its fleet. */
function controllerOver(
  runtime: Runtime,
  parts: {
    readonly copy: () => Gslb;
    readonly updateStatus: GslbControllerOptions["client"]["updateStatus"];
    readonly onPlan: () => void;
    readonly onEvent?: (reason: string) => void;
  },
): GslbController {
  return new GslbController(runtime, {
    client: {
      create: echo,
      update: echo,
      updateStatus: parts.updateStatus,
      get: async (type, { name }) => {
        throw notFound(type, name);
      },
    },
    copies: {
      gslbs: { lister: { get: parts.copy } },
      endpoints: { lister: { get: () => undefined } },
      ingresses: { lister: { get: () => undefined } },
      state: () => ({ is: "complete" }),
      get: () => undefined,
      list: () => [],
      slicesOf: () => [],
      backend: () => ({ state: "healthy", readyEndpoints: 1 }),
    },
    peers: { addHost() {}, removeHost() {} },
    views: { of: () => [] },
    addresses: {
      forget() {},
      reading: (_key, read) => {
        parts.onPlan();
        return read(() => ({ state: "pending" }));
      },
    },
    events: { record: (_about, { reason }) => parts.onEvent?.(reason) },
    geoTag: "eu",
    geoTags: ["eu"],
    exposedOverride: ["192.0.2.1"],
    addressGraceSeconds: 300,
    zones: () => ["cloud.example.com"],
  });
}

/** How often a Gslb of so many hosts is planned while 1,000 answers of peers come in a second. */
async function plansInASecond(hostCount: number): Promise<number> {
  const simulation = new Simulation({ seed: 1 });
  const { runtime } = simulation.node({ name: "eu", addresses: ["10.0.0.1"] });
  const rules = Array.from({ length: hostCount }, (_, index) => ({
    host: `app-${index}.cloud.example.com`,
    http: { paths: [] },
  }));
  const gslb: Gslb = {
    apiVersion: "k8gb.io/v1beta1",
    kind: "Gslb",
    metadata: { namespace: "demo", name: "app", uid: "1" },
    spec: { strategy: { type: "roundRobin" }, ingress: { rules } },
  };
  let plans = 0;
  const gslbs = controllerOver(runtime, {
    copy: () => gslb,
    updateStatus: echo,
    onPlan: () => (plans += 1),
  });
  const stop = new AbortController();
  const running = gslbs.controller.run(stop.signal);
  gslbs.controller.enqueue("demo/app");
  for (let ms = 0; ms < 1000; ms += 1) {
    await simulation.complete(runtime.clock.sleep(1));
    gslbs.enqueueHost("app-0.cloud.example.com");
  }
  stop.abort();
  await simulation.complete(running);
  return plans;
}

test("a Gslb of few hosts follows each change at once", async () => {
  assert.ok((await plansInASecond(1)) >= 1000);
});

test("one of thousands of hosts leaves time to the others, whatever comes in", async () => {
  assert.equal(await plansInASecond(1120), 2);
  assert.equal(await plansInASecond(2520), 1);
});

for (const order of ["the watch event comes before the answer", "the answer comes before the watch event"]) {
  test(`an annotation set after a status write counts at once, where ${order}`, async () => {
    const simulation = new Simulation({ seed: 1 });
    const { runtime } = simulation.node({ name: "eu", addresses: ["10.0.0.1"] });
    const ingress = { rules: [{ host: "app.cloud.example.com", http: { paths: [] } }] };
    let copy: Gslb = {
      apiVersion: "k8gb.io/v1beta1",
      kind: "Gslb",
      metadata: { namespace: "demo", name: "app", uid: "1", generation: 1, resourceVersion: "1" },
      spec: { strategy: { type: "roundRobin" }, ingress },
    };
    let version = 1;
    const gslbs = controllerOver(runtime, {
      copy: () => copy,
      async updateStatus(_type, object) {
        version += 1;
        const written = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
        if (order.startsWith("the watch event")) copy = written;
        return written;
      },
      onPlan() {},
    });
    const stop = new AbortController();
    const running = gslbs.controller.run(stop.signal);
    gslbs.controller.enqueue("demo/app");
    await simulation.complete(runtime.clock.sleep(10));

    const annotations = { "k8gb.io/exposed-ip-addresses": "192.0.2.9" };
    version += 1;
    copy = { ...copy, metadata: { ...copy.metadata, annotations, resourceVersion: String(version) } };
    gslbs.controller.enqueue("demo/app");
    await simulation.complete(runtime.clock.sleep(10));
    assert.deepEqual(gslbs.latest("demo/app")?.exposed.targets?.A, ["192.0.2.9"]);
    stop.abort();
    await simulation.complete(running);
  });
}

test("where k8gb's own CRD prunes conditions, a status is written once and told by events once", async () => {
  const simulation = new Simulation({ seed: 1 });
  const { runtime } = simulation.node({ name: "eu", addresses: ["10.0.0.1"] });
  let gslb: Gslb = {
    apiVersion: "k8gb.io/v1beta1",
    kind: "Gslb",
    metadata: { namespace: "demo", name: "app", uid: "1" },
    spec: {
      strategy: { type: "roundRobin" },
      ingress: { rules: [{ host: "elsewhere.org", http: { paths: [] } }] },
    },
  };
  let [plans, writes] = [0, 0];
  const reasons: string[] = [];
  const gslbs = controllerOver(runtime, {
    copy: () => gslb,
    updateStatus: async <T extends KubeObject>(_type: unknown, object: T): Promise<T> => {
      writes += 1;
      const { conditions: _pruned, observedGeneration: _too, ...status } = (object as Gslb).status!;
      gslb = { ...gslb, status };
      return gslb as unknown as T;
    },
    onPlan: () => (plans += 1),
    onEvent: (reason) => reasons.push(reason),
  });
  const stop = new AbortController();
  const running = gslbs.controller.run(stop.signal);
  for (let round = 0; round < 5; round += 1) {
    gslbs.controller.enqueue("demo/app");
    await simulation.complete(runtime.clock.sleep(1000));
  }
  assert.equal(plans, 5);
  assert.equal(writes, 1);
  assert.ok(reasons.includes("HostOutsideZones"));
  assert.equal(new Set(reasons).size, reasons.length);
  stop.abort();
  await simulation.complete(running);
});
