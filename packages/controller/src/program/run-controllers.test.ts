import assert from "node:assert/strict";
import { test } from "node:test";
import { Registry } from "prom-client";
import { ControllerError } from "../controller-error.ts";
import { Controller } from "../controller/controller.ts";
import { watchMapped, watchObjects } from "../controller/source.ts";
import { Informer } from "../informer/informer.ts";
import { InformerFactory } from "../informer/informer-factory.ts";
import { ControllerMetrics } from "../metrics/controller-metrics.ts";
import { registerInformerMetrics } from "../metrics/informer-metrics.ts";
import { configMaps, fleet } from "../testdata/fleet.ts";
import type { Fleet } from "../testdata/fleet.ts";
import { runControllers } from "./run-controllers.ts";
import type { ControllerProgram } from "./run-controllers.ts";

interface Bench extends Fleet {
  readonly runs: string[];
  readonly controller: Controller;
  readonly running: Promise<void>;
  readonly end: () => void;
  readonly ask: (path: string) => Promise<string>;
}

/** A program of one controller with all that belongs to it. */
async function bench(more: Partial<ControllerProgram> = {}, deadlineMs = 600_000): Promise<Bench> {
  const world = await fleet();
  const { simulation, runtime } = world;
  const registry = new Registry();
  const runs: string[] = [];
  const controller = new Controller(runtime, {
    name: "test",
    sources: [watchObjects(world.informer)],
    deadlineMs,
    meter: new ControllerMetrics(registry),
    reconcile: async (key) => {
      runs.push(key);
      if (key === "n/bad") throw new Error("bad");
      if (key === "n/endless") await new Promise(() => {});
    },
  });
  registerInformerMetrics(registry, [world.informer]);
  const stopping = new AbortController();
  const health = { listen: { address: "10.0.0.2", port: 8080 }, registry };
  const running = runControllers(runtime, { controllers: [controller], health, ...more }, stopping.signal);
  running.catch(() => {});
  const prober = simulation.node({ name: "prober", addresses: ["10.0.0.3"] }).runtime;
  const http = prober.network.httpClient({ origin: "http://10.0.0.2:8080" });
  const get = async (target: string): Promise<string> => {
    const response = await http.request({ method: "GET", target });
    const chunks: Uint8Array[] = [];
    for await (const chunk of response.body) chunks.push(chunk);
    return `${response.status} ${Buffer.concat(chunks).toString().trim()}`;
  };
  return {
    ...world,
    runs,
    controller,
    running,
    end: () => stopping.abort(new Error("SIGTERM")),
    ask: (path) => simulation.complete(get(path)),
  };
}

test("a program follows its copies, works, tells its health, and stops without a trace", async () => {
  const { truth, pass, runs, ask, end, simulation, running } = await bench();
  truth.put("a", {});
  await pass(5000);
  assert.deepEqual(runs, ["n/a"]);
  assert.equal(await ask("/healthz"), "200 ok");
  assert.equal(await ask("/readyz"), "200 ok");
  end();
  await simulation.complete(running);
  await assert.rejects(ask("/healthz"), { code: "Refused" });
});

test("copies of a factory are run by it, together with those that controllers read beside it", async () => {
  const world = await fleet();
  const { simulation, runtime, truth } = world;
  const factory = new InformerFactory(runtime, { client: world.client });
  const runs: string[] = [];
  const controller = new Controller(runtime, {
    name: "test",
    sources: [
      watchObjects(factory.informer(configMaps)),
      watchMapped(world.informer, { keysOf: ({ metadata }) => [`own/${metadata.name}`] }),
    ],
    reconcile: async (key) => void runs.push(key),
  });
  const stopping = new AbortController();
  const running = runControllers(runtime, { controllers: [controller], factory }, stopping.signal);
  truth.put("a", {});
  await world.pass(2000);
  assert.deepEqual(runs.toSorted(), ["n/a", "own/a"]);
  stopping.abort();
  await simulation.complete(running);
});

test("readiness ends when a copy was not confirmed in time, and comes back with the server", async () => {
  const { truth, pass, ask } = await bench();
  truth.put("a", {});
  await pass(5000);
  assert.equal(await ask("/readyz"), "200 ok");
  truth.isAway = true;
  truth.endWatches();
  await pass(50_000);
  assert.equal(await ask("/readyz"), "200 ok");
  await pass(15_000);
  assert.match(await ask("/readyz"), /^503 not ready: configmaps are \d+ s old and not watched$/);
  assert.equal(await ask("/healthz"), "200 ok", "a restart would not help");
  truth.isAway = false;
  await pass(35_000);
  assert.equal(await ask("/readyz"), "200 ok");
  for (let minute = 0; minute < 20; minute++) {
    await pass(60_000);
    truth.bookmark();
  }
  assert.equal(await ask("/readyz"), "200 ok", "bookmarks are word enough");
});

test("a reconcile that will not end makes the process unhealthy, which a restart helps", async () => {
  const { truth, pass, ask } = await bench({}, 1000);
  truth.put("endless", {});
  await pass(4000);
  assert.equal(await ask("/healthz"), "200 ok");
  await pass(4000);
  assert.equal(
    await ask("/healthz"),
    "503 not alive: 1 reconciles of test have not ended since their deadline",
  );
});

test("a part that fails ends the whole, and the program says with what", async () => {
  const { running, simulation, controller } = await bench({
    events: { run: async () => Promise.reject(new ControllerError("AlreadyRunning", "the recorder")) },
  });
  await assert.rejects(simulation.complete(running), { message: "the recorder" });
  assert.equal(controller.counts.running, 0);
});

test("controllers work only while they lead, and the lease is released after their work has ended", async () => {
  const told: string[] = [];
  const { truth, pass, runs, running, simulation, informer } = await bench({
    election: {
      name: "lease",
      status: { leading: false, holder: undefined, transitions: 0, overdueMs: 0, slowPaths: 0 },
      run: async (_signal, lead) => {
        await new Promise<void>((resolve) => simulation.schedule(10_000, resolve));
        const term = new AbortController();
        simulation.schedule(5_000, () => term.abort(new Error("lost")));
        await lead({ signal: term.signal, leading: true, throwIfLost: () => {} });
        told.push("work has ended");
        throw new ControllerError("LeadershipLost", "lost");
      },
    },
  });
  truth.put("a", {});
  await pass(9_000);
  assert.deepEqual([runs, informer.hasSynced], [[], true]);
  await pass(3_000);
  assert.deepEqual(runs, ["n/a"]);
  await assert.rejects(simulation.complete(running), { code: "LeadershipLost" });
  assert.deepEqual(told, ["work has ended"]);
});

test("a program of many parts is not taken for a leak of listeners", async () => {
  const { runtime, simulation, client } = await fleet();
  const warnings: string[] = [];
  const onWarning = ({ message }: Error): void => void warnings.push(message);
  process.on("warning", onWarning);
  const controllers = Array.from({ length: 15 }, (_, index) => {
    const informer = new Informer(runtime, { client, type: configMaps });
    const sources = [watchObjects(informer)];
    return new Controller(runtime, { name: `test-${index}`, sources, reconcile: async () => {} });
  });
  const stopping = new AbortController();
  const running = runControllers(runtime, { controllers }, stopping.signal);
  await simulation.run({ untilMs: 2000 });
  stopping.abort();
  await simulation.complete(running);
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", onWarning);
  assert.deepEqual(warnings, []);
});

test("metrics have the names of client-go and controller-runtime", async () => {
  const { truth, pass, ask } = await bench();
  truth.put("a", {});
  truth.put("bad", {});
  await pass(100);
  const lines = (await ask("/metrics")).split("\n");
  for (const line of [
    'workqueue_depth{name="test",controller="test",priority="0"} 0',
    'workqueue_unfinished_work_seconds{name="test",controller="test"} 0',
    'workqueue_longest_running_processor_seconds{name="test",controller="test"} 0',
    'controller_runtime_reconcile_total{controller="test",result="success"} 1',
    'controller_runtime_reconcile_total{controller="test",result="requeue_after"} 0',
    'controller_runtime_reconcile_panics_total{controller="test"} 0',
    'controller_runtime_max_concurrent_reconciles{controller="test"} 1',
    'controller_runtime_active_workers{controller="test"} 0',
    'reflector_lists_total{name="configmaps"} 1',
    'reflector_last_resource_version{name="configmaps"} 12',
    'informer_objects{name="configmaps"} 2',
  ])
    assert.ok(lines.includes(line), `${line}\n${lines.join("\n")}`);
  const value = (series: string): number =>
    Number(
      lines
        .find((line) => line.startsWith(`${series}{`))
        ?.split(" ")
        .at(-1),
    );
  const failures = value("controller_runtime_reconcile_errors_total");
  assert.ok(failures > 1);
  assert.equal(value("workqueue_retries_total"), failures);
  assert.equal(value("workqueue_queue_duration_seconds_count"), failures + 1);
  assert.equal(value("workqueue_work_duration_seconds_count"), failures + 1);
  assert.equal(value("workqueue_adds_total"), failures + 2, "one key waits for its retry");
});
