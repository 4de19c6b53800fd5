import assert from "node:assert/strict";
import { test } from "node:test";
import { Simulation } from "@meridian/runtime/sim";
import { FakeObjects } from "../testdata/fake-objects.ts";
import { StoredPeerMemory, type MemoryKey } from "./peer-memory.ts";

const key = (host: string): MemoryKey => ({ zone: "cloud.example.com", geoTag: "us", host, family: "A" });

function open(
  simulation: Simulation,
  server: FakeObjects,
): { readonly memory: StoredPeerMemory; readonly stop: () => void } {
  const { runtime } = simulation.node({ name: `n${simulation.steps}-${server.writes}`, addresses: [] });
  const memory = new StoredPeerMemory(runtime, { client: server.client, namespace: "k8gb" });
  const stopping = new AbortController();
  void memory.run(stopping.signal);
  return { memory, stop: () => stopping.abort() };
}

test("what is remembered is there after a restart, and nothing is written twice", async () => {
  const simulation = new Simulation({ seed: 1 });
  const server = new FakeObjects();
  const { memory, stop } = open(simulation, server);
  memory.set(key("*.app.x"), { targets: ["192.0.2.1"], unreachableSince: 5 });
  await simulation.run({ untilMs: 100 });
  const { writes } = server;
  memory.set(key("*.app.x"), { targets: ["192.0.2.1"], unreachableSince: 5 });
  await simulation.run({ untilMs: 10_000 });
  assert.equal(server.writes, writes);
  stop();

  const second = open(simulation, server);
  await second.memory.load(new AbortController().signal);
  assert.deepEqual(second.memory.get(key("*.app.x")), { targets: ["192.0.2.1"], unreachableSince: 5 });
  assert.equal(second.memory.get(key("other.x")), undefined);
  second.stop();
});

test("hosts that are not kept any more are forgotten, and an empty map is deleted", async () => {
  const simulation = new Simulation({ seed: 1 });
  const server = new FakeObjects();
  const { memory, stop } = open(simulation, server);
  for (const host of ["a.x", "b.x"]) memory.set(key(host), { targets: ["192.0.2.1"] });
  await simulation.run({ untilMs: 100 });
  assert.equal(server.objects.size, 2);
  memory.retain((host) => host === "a.x");
  await simulation.run({ untilMs: 200 });
  assert.equal(server.objects.size, 1);
  memory.set(key("a.x"), undefined);
  await simulation.run({ untilMs: 300 });
  assert.equal(server.objects.size, 0);
  stop();
});

test("a write that fails is tried again until it succeeds", async () => {
  const simulation = new Simulation({ seed: 1 });
  const server = new FakeObjects();
  const { memory, stop } = open(simulation, server);
  server.failure = new Error("away");
  memory.set(key("a.x"), { targets: ["192.0.2.1"] });
  await simulation.run({ untilMs: 20_000 });
  server.failure = undefined;
  await simulation.run({ untilMs: 40_000 });
  assert.equal(server.objects.size, 1);
  stop();
});

test("a map whose deletion fails is deleted later: a restart would believe what is in it", async () => {
  const simulation = new Simulation({ seed: 1 });
  const server = new FakeObjects();
  const { memory, stop } = open(simulation, server);
  memory.set(key("a.x"), { targets: ["192.0.2.1"] });
  await simulation.run({ untilMs: 100 });
  server.failure = new Error("away");
  memory.set(key("a.x"), undefined);
  await simulation.run({ untilMs: 20_000 });
  server.failure = undefined;
  await simulation.run({ untilMs: 40_000 });
  assert.equal(server.objects.size, 0);
  stop();
});

test("a stored map that cannot be read is skipped", async () => {
  const simulation = new Simulation({ seed: 1 });
  const server = new FakeObjects();
  const labels = { "app.kubernetes.io/managed-by": "meridian", "app.kubernetes.io/component": "peer-views" };
  for (const [name, text] of [
    ["one", "{"],
    ["two", '{"zone":"x","geoTag":"us","hosts":{"a":{"A":{}}}}'],
    ["three", ""],
  ] as const)
    server.objects.set(`configmaps k8gb/${name}`, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, namespace: "k8gb", labels },
      data: { "views.json": text },
    } as never);
  const { memory, stop } = open(simulation, server);
  await memory.load(new AbortController().signal);
  assert.equal(memory.get(key("a")), undefined);
  stop();
});
