import assert from "node:assert/strict";
import { test } from "node:test";
import type { Runtime } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import type { SimLogLine } from "@meridian/runtime/sim";
import { Registry } from "prom-client";
import { ControllerMetrics } from "../metrics/controller-metrics.ts";
import { Controller } from "./controller.ts";
import type { ControllerOptions, ReconcileResult } from "./controller.ts";
import { terminalError } from "./reconcile-error.ts";

interface Bench {
  readonly simulation: Simulation;
  readonly runtime: Runtime;
  readonly logged: readonly SimLogLine[];
  readonly controller: Controller;
  /** Each run as `key@ms`. */
  readonly runs: string[];
  readonly stop: () => void;
  readonly running: Promise<void>;
}

function bench(
  reconcile: (
    key: string,
    signal: AbortSignal,
    runtime: Runtime,
  ) => ReconcileResult | Promise<ReconcileResult>,
  options: Partial<ControllerOptions> = {},
): Bench {
  return benchOf(async (key, signal, runtime) => reconcile(key, signal, runtime), options);
}

/** As `bench`, with a function that need not give a promise. */
function benchOf(
  reconcile: (key: string, signal: AbortSignal, runtime: Runtime) => Promise<ReconcileResult>,
  options: Partial<ControllerOptions> = {},
): Bench {
  const logged: SimLogLine[] = [];
  const simulation = new Simulation({ seed: 1, onLog: (line) => logged.push(line) });
  const { runtime } = simulation.node({ name: "a", addresses: ["10.0.0.1"] });
  const runs: string[] = [];
  const controller = new Controller(runtime, {
    name: "test",
    ...options,
    reconcile: (key, signal) => {
      runs.push(`${key}@${Math.round(simulation.nowMs)}`);
      return reconcile(key, signal, runtime);
    },
  });
  const stopping = new AbortController();
  const running = controller.run(stopping.signal);
  return {
    simulation,
    runtime,
    logged,
    controller,
    runs,
    running,
    stop: () => stopping.abort(new Error("stop")),
  };
}

test("adds before a run begins are one run, and an add during it is one more", async () => {
  const { simulation, controller, runs } = bench((_, __, { clock }) => clock.sleep(100));
  for (let count = 0; count < 5; count++) controller.enqueue("a");
  simulation.schedule(50, () => {
    controller.enqueue("a");
    controller.enqueue("a");
  });
  await simulation.complete(controller.idle());
  assert.deepEqual(runs, ["a@0", "a@100"]);
});

test("as many keys as allowed are worked on at once, and never one key twice", async () => {
  let most = 0;
  const now = new Set<string>();
  const { simulation, controller } = bench(
    async (key, _, { clock, random }) => {
      assert.ok(!now.has(key));
      now.add(key);
      most = Math.max(most, now.size);
      if (random.float() < 0.5) controller.enqueue(key);
      await clock.sleep(10);
      now.delete(key);
    },
    { concurrency: 3 },
  );
  for (const key of ["a", "b", "c", "d", "e", "f"]) controller.enqueue(key);
  await simulation.complete(controller.idle());
  assert.equal(most, 3);
});

test("a key that fails is run again with doubling waits, logged each time with its cause, until it is well", async () => {
  let failures = 0;
  const cause = new Error("no peer");
  const { simulation, controller, runs, logged } = bench(() => {
    if (++failures <= 3) throw cause;
  });
  controller.enqueue("a");
  await simulation.run({ untilMs: 1000 });
  assert.deepEqual(runs, ["a@0", "a@5", "a@15", "a@35"]);
  assert.deepEqual(
    logged.map(({ level, message, fields }) => [
      level,
      message,
      fields["controller"],
      fields["object"],
      fields["attempt"],
      fields["error"],
    ]),
    [1, 2, 3].map((attempt) => ["warn", "reconcile failed", "test", "a", attempt, cause]),
  );
  assert.deepEqual(controller.counts, {
    succeeded: 1,
    failed: 3,
    running: 0,
    queued: 0,
    delayed: 0,
    stuck: 0,
  });
});

test("one failing key does not hold up the others", async () => {
  const { simulation, controller, runs } = bench((key) => {
    if (key === "bad") throw new Error("bad");
  });
  controller.enqueue("bad");
  controller.enqueue("good");
  await simulation.run({ untilMs: 3 });
  assert.deepEqual(runs, ["bad@0", "good@0"]);
});

test("a key that asks for it is run again after a while, and earlier if something changes", async () => {
  const { simulation, controller, runs } = bench(() => ({ requeueAfterMs: 1000 }));
  controller.enqueue("a");
  simulation.schedule(300, () => controller.enqueue("a"));
  await simulation.run({ untilMs: 1500 });
  assert.deepEqual(runs, ["a@0", "a@300", "a@1300"]);
});

test("a stop waits for what is running, tells it, and begins nothing more", async () => {
  const { simulation, controller, runs, logged, stop, running } = bench(async (_, signal, { clock }) => {
    await clock.sleep(100);
    assert.ok(signal.aborted);
    signal.throwIfAborted();
  });
  controller.enqueue("a");
  controller.enqueue("b");
  controller.enqueueAfter("c", 10);
  simulation.schedule(50, stop);
  await simulation.complete(running);
  controller.enqueue("d");
  await simulation.run({ untilMs: 10_000 });
  assert.deepEqual(runs, ["a@0"]);
  assert.deepEqual([logged.length, simulation.pendingTimers], [0, 0]);
});

test("a reconcile that takes too long is told so and counts as failed", async () => {
  const { simulation, controller, logged } = bench((_, signal, { clock }) => clock.sleep(10_000, signal), {
    deadlineMs: 100,
  });
  controller.enqueue("a");
  await simulation.run({ untilMs: 101 });
  assert.equal((logged[0]?.fields["error"] as { code?: string } | undefined)?.code, "DeadlineExceeded");
});

test("each reconcile has the whole of its deadline, whenever it began and whoever ended before", async () => {
  const aborted: string[] = [];
  const { simulation, controller, stop, running } = bench(
    async (key, signal, { clock }) => {
      const lastsMs = key.startsWith("short") ? 300 : 10_000;
      await clock.sleep(lastsMs, signal).catch(() => aborted.push(`${key}@${Math.round(simulation.nowMs)}`));
    },
    { deadlineMs: 1_000, concurrency: 10 },
  );
  const begins = { first: 0, "short-1": 100, second: 400, "short-2": 900, third: 1_200, last: 5_000 };
  for (const [key, atMs] of Object.entries(begins)) simulation.schedule(atMs, () => controller.enqueue(key));
  await simulation.run({ untilMs: 5_500 });
  assert.deepEqual(aborted, ["first@1000", "second@1400", "third@2200"]);
  stop();
  await simulation.complete(running);
  assert.deepEqual(aborted.slice(3), ["last@5500"]);
  assert.equal(simulation.pendingTimers, 0);
});

test("a controller runs once", async () => {
  const { controller } = bench(() => {});
  await assert.rejects(controller.run(new AbortController().signal), { code: "AlreadyRunning" });
});

test("what is thrown at once, or is no error at all, is that key's affair as well", async () => {
  const thrown = [
    () => {
      throw new TypeError("at once");
    },
    () => Promise.reject(undefined),
    () => Promise.reject("text"),
  ];
  const { simulation, controller, runs, logged } = benchOf((key) =>
    (thrown[Number(key)] ?? (async () => {}))(),
  );
  for (const key of ["0", "1", "2", "well"]) controller.enqueue(key);
  await simulation.run({ untilMs: 3 });
  assert.deepEqual(runs, ["0@0", "1@0", "2@0", "well@0"]);
  assert.deepEqual(
    [controller.counts.succeeded, controller.counts.failed, controller.counts.delayed],
    [1, 3, 3],
  );
  assert.deepEqual(
    logged.map(({ fields }) => String(fields["error"])),
    ["TypeError: at once", "rejected with nothing", "text"],
  );
});

test("a reconcile that never ends loses its worker after its deadline, but keeps its key", async () => {
  let end = (): void => {};
  const { simulation, controller, runs, logged, stop, running } = benchOf(
    (key) => (key === "endless" ? new Promise((resolve) => (end = resolve)) : Promise.resolve()),
    { deadlineMs: 1000 },
  );
  controller.enqueue("endless");
  controller.enqueue("other");
  await simulation.run({ untilMs: 5_999 });
  assert.deepEqual(runs, ["endless@0"]);
  await simulation.run({ untilMs: 100_000 });
  assert.deepEqual(runs, ["endless@0", "other@6000"]);
  assert.deepEqual(controller.counts, {
    succeeded: 1,
    failed: 1,
    running: 1,
    queued: 0,
    delayed: 0,
    stuck: 1,
  });
  assert.match(logged[0]?.message ?? "", /ignores its deadline/);
  end();
  await simulation.run({ untilMs: 100_001 });
  assert.deepEqual(runs.slice(2), ["endless@100000"], "it runs again, once the first run has ended");
  end();
  stop();
  await simulation.complete(running);
  assert.deepEqual([controller.counts.stuck, simulation.pendingTimers], [0, 0]);
});

test("a terminal error is told and not tried again until something changes", async () => {
  const { simulation, controller, runs, logged } = bench(() => {
    throw terminalError("spec.size is negative");
  });
  controller.enqueue("a");
  await simulation.run({ untilMs: 10_000_000 });
  assert.deepEqual([runs, controller.counts.delayed], [["a@0"], 0]);
  assert.deepEqual([logged[0]?.level, logged[0]?.message], ["error", "reconcile failed for good"]);
  controller.enqueue("a");
  await simulation.run({ untilMs: 10_000_001 });
  assert.equal(runs.length, 2);
});

test("a stop that drains works off what is queued, and then drops the rest", async () => {
  const { simulation, controller, runs, stop, running } = bench(
    (_, signal, { clock }) => clock.sleep(100, signal),
    {
      onStop: "drain",
      stopMs: 250,
    },
  );
  for (const key of ["a", "b", "c", "d"]) controller.enqueue(key);
  controller.enqueueAfter("late", 20);
  simulation.schedule(50, stop);
  await simulation.complete(running);
  assert.deepEqual(runs, ["a@0", "b@100", "c@200"]);
  assert.deepEqual([simulation.nowMs, simulation.pendingTimers], [300, 0]);
});

test("a stop waits for what is running only so long", async () => {
  const { simulation, controller, stop, running } = benchOf(() => new Promise(() => {}), { stopMs: 2000 });
  controller.enqueue("n/a");
  simulation.schedule(50, stop);
  await assert.rejects(simulation.complete(running), { code: "DeadlineExceeded", message: /n\/a/ });
  assert.equal(simulation.nowMs, 2050);
});

test("a key that fails keeps its priority, so that a start with many bad objects does not delay news", async () => {
  const { simulation, controller, runs } = bench(async (key, _, { clock }) => {
    await clock.sleep(10);
    if (key === "bad") throw new Error("bad");
  });
  controller.enqueue("bad", { priority: -100 });
  await simulation.run({ untilMs: 11 });
  controller.enqueue("x");
  controller.enqueue("y");
  controller.enqueue("z");
  await simulation.run({ untilMs: 45 });
  assert.deepEqual(runs, ["bad@0", "x@11", "y@21", "z@31", "bad@41"]);
});

test("a controller never loses a wake-up, whatever storm it is in", async () => {
  const { simulation, controller, runtime } = bench(
    async (key, _, { clock, random }) => {
      seen.set(key, wanted.get(key) ?? 0);
      await clock.sleep(random.float() * 30);
      if (random.float() < 0.2) throw new Error("bad luck");
    },
    { concurrency: 3, retryMsMax: 50 },
  );
  const wanted = new Map<string, number>();
  const seen = new Map<string, number>();
  for (let step = 0; step < 500; step++) {
    const key = `n${step % 3}/${Math.floor(runtime.random.float() * 8)}`;
    simulation.schedule(step * 7, () => {
      wanted.set(key, step);
      controller.enqueue(key);
    });
  }
  await simulation.run({ untilMs: 6000 });
  assert.deepEqual([...seen].sort(), [...wanted].sort());
  assert.deepEqual([controller.counts.queued, controller.counts.running], [0, 0]);
});

test("a meter that fails costs its figures, and neither a retry nor the controller", async () => {
  const registry = new Registry();
  const { queues } = new ControllerMetrics(registry);
  const onReconcile = (): never => {
    throw new Error("meter");
  };
  const { simulation, controller, runs, stop, running, logged } = bench(() => {}, {
    meter: { queues, observe: () => ({ onReconcile }) },
  });
  controller.enqueue("a");
  await simulation.run({ untilMs: 100 });
  controller.enqueue("b");
  await simulation.run({ untilMs: 200 });
  assert.deepEqual(runs, ["a@0", "b@100"]);
  assert.deepEqual(controller.counts.failed, 0);
  assert.equal(logged.filter(({ message }) => message === "a reconcile is not metered").length, 2);
  stop();
  await simulation.complete(running);
});
