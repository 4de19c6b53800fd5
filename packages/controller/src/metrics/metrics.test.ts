import assert from "node:assert/strict";
import { test } from "node:test";
import { isNotFound, notFound } from "@meridian/kube";
import { Registry } from "prom-client";
import { KubeClient } from "../client/kube-client.ts";
import { Controller } from "../controller/controller.ts";
import { configMaps } from "../testdata/fleet.ts";
import { json, scriptedWorld } from "../testdata/scripted-http.ts";
import { WorkQueue } from "../queue/work-queue.ts";
import { ControllerMetrics } from "./controller-metrics.ts";
import { registerElectionMetrics } from "./election-metrics.ts";
import { registerInformerMetrics } from "./informer-metrics.ts";
import { meterRequests } from "./rest-client-metrics.ts";
import { WorkQueueMetrics } from "./work-queue-metrics.ts";

const linesOf = async (registry: Registry): Promise<readonly string[]> =>
  (await registry.metrics()).split("\n");

test("requests are counted by code, method and host, also those without an answer", async () => {
  const answers = [
    json({ metadata: { name: "a" } }),
    json(notFound(configMaps, "b").status, 404),
    new Error("no route"),
  ];
  const { runtime, simulation } = scriptedWorld((_, count) => answers[count] ?? answers[0]!);
  const registry = new Registry();
  const network = meterRequests(runtime, registry);
  const client = new KubeClient({ ...runtime, network }, { origin: "https://10.0.0.1:6443" });
  await simulation.complete(client.get(configMaps, { namespace: "n", name: "a" }));
  await assert.rejects(
    simulation.complete(client.get(configMaps, { namespace: "n", name: "b" })),
    isNotFound,
  );
  await assert.rejects(simulation.complete(client.get(configMaps, { namespace: "n", name: "c" })));
  const lines = await linesOf(registry);
  for (const code of ["200", "404", "<error>"])
    assert.ok(
      lines.includes(`rest_client_requests_total{code="${code}",method="GET",host="10.0.0.1:6443"} 1`),
      lines.join("\n"),
    );
  assert.ok(lines.includes('rest_client_request_duration_seconds_count{verb="GET",host="10.0.0.1:6443"} 3'));
});

test("an election tells whether it leads", async () => {
  const registry = new Registry();
  const status = { leading: false, holder: undefined, transitions: 0, overdueMs: 0, slowPaths: 2 };
  const election = { name: "lease", status };
  registerElectionMetrics(registry, election);
  assert.ok((await linesOf(registry)).includes('leader_election_master_status{name="lease"} 0'));
  election.status = { ...status, leading: true };
  const lines = await linesOf(registry);
  assert.ok(lines.includes('leader_election_master_status{name="lease"} 1'));
  assert.ok(lines.includes('leader_election_slowpath_total{name="lease"} 2'));
});

test("a queue without a controller tells of itself by its name", async () => {
  const { runtime, simulation } = scriptedWorld(() => json({}));
  const registry = new Registry();
  const queue = new WorkQueue(runtime, { name: "mails", meter: new WorkQueueMetrics(registry) });
  queue.add("a");
  queue.add("a");
  queue.add("b");
  await queue.take();
  await simulation.run({ untilMs: 2000 });
  queue.addRateLimited("a");
  const lines = await linesOf(registry);
  const labels = 'name="mails",controller="mails"';
  for (const line of [
    `workqueue_adds_total{${labels}} 3`,
    `workqueue_retries_total{${labels}} 1`,
    `workqueue_depth{${labels},priority="0"} 1`,
    `workqueue_queue_duration_seconds_count{${labels}} 1`,
    `workqueue_work_duration_seconds_count{${labels}} 0`,
  ])
    assert.ok(lines.includes(line), `${line}\n${lines.join("\n")}`);
  const longest = lines.find((line) => line.startsWith("workqueue_longest_running_processor_seconds{"));
  assert.equal(Math.round(Number(longest?.split(" ")[1])), 2);
});

test("names end as Prometheus wants them, two controllers share a registry, and depth is told by priority", async () => {
  const { runtime } = scriptedWorld(() => json({}));
  const registry = new Registry();
  const meter = new ControllerMetrics(registry);
  const [one] = ["one", "two"].map(
    (name) => new Controller(runtime, { name, meter, reconcile: async () => {} }),
  );
  registerInformerMetrics(registry, []);
  one?.enqueue("a", { priority: -100 });
  one?.enqueue("b");
  const lines = await linesOf(registry);
  assert.ok(
    lines.includes('workqueue_depth{name="one",controller="one",priority="-100"} 1'),
    lines.join("\n"),
  );
  assert.ok(lines.includes('workqueue_depth{name="one",controller="one",priority="0"} 1'));
  assert.ok(lines.includes('workqueue_adds_total{name="one",controller="one"} 2'));
  assert.ok(lines.includes('workqueue_adds_total{name="two",controller="two"} 0'));
  for (const { name, type } of await registry.getMetricsAsJSON()) {
    assert.match(name, /^(workqueue|controller_runtime|reflector|informer)_[a-z_]+$/);
    assert.equal(name.endsWith("_total"), String(type) === "counter", name);
  }
});
