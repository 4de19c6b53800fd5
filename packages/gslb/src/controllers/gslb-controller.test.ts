import assert from "node:assert/strict";
import { test } from "node:test";
import { notFound, type KubeObject } from "@meridian/kube";
import { Simulation } from "@meridian/runtime/sim";
import type { Gslb } from "../resources/gslb.ts";
import { GslbController } from "./gslb-controller.ts";

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
  const echo = async <T extends KubeObject>(_type: unknown, object: T): Promise<T> => object;
  const gslbs = new GslbController(runtime, {
    client: {
      create: echo,
      update: echo,
      updateStatus: echo,
      get: async (type, { name }) => {
        throw notFound(type, name);
      },
    },
    copies: {
      gslbs: { lister: { get: () => gslb } },
      endpoints: { lister: { get: () => undefined } },
      ingresses: { lister: { get: () => undefined } },
      get: () => undefined,
      list: () => [],
      backend: () => ({ state: "healthy", readyEndpoints: 1 }),
    },
    peers: { addHost() {}, removeHost() {} },
    views: { of: () => [] },
    addresses: {
      forget() {},
      reading: (_key, read) => {
        plans += 1;
        return read(() => ({ state: "pending" }));
      },
    },
    events: { record() {} },
    geoTag: "eu",
    geoTags: ["eu"],
    exposedOverride: ["192.0.2.1"],
    zones: () => ["cloud.example.com"],
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
