import assert from "node:assert/strict";
import { test } from "node:test";
import type { Runtime } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import type { SimLogLine } from "@meridian/runtime/sim";
import { Controller } from "./controller.ts";
import type { ControllerOptions, ReconcileResult } from "./controller.ts";

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
  const logged: SimLogLine[] = [];
  const simulation = new Simulation({ seed: 1, onLog: (line) => logged.push(line) });
  const { runtime } = simulation.node({ name: "a", addresses: ["10.0.0.1"] });
  const runs: string[] = [];
  const controller = new Controller(runtime, {
    name: "test",
    ...options,
    reconcile: async (key, signal) => {
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
  assert.deepEqual(controller.counts, { succeeded: 1, failed: 3, running: 0, queued: 0, delayed: 0 });
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
  const { simulation, controller, runs } = bench(() => ({ after: 1000 }));
  controller.enqueue("a");
  simulation.schedule(300, () => controller.enqueue("a"));
  await simulation.run({ untilMs: 1500 });
  assert.deepEqual(runs, ["a@0", "a@300", "a@1000"]);
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

test("a controller runs once", async () => {
  const { controller } = bench(() => {});
  await assert.rejects(controller.run(new AbortController().signal), { code: "AlreadyRunning" });
});
