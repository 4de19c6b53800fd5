import assert from "node:assert/strict";
import { test } from "node:test";
import { Simulation } from "@meridian/runtime/sim";
import { TaskScope } from "../tasks/task-scope.ts";
import { OperatorLease } from "./operator-lease.ts";

function open(): {
  readonly lease: OperatorLease;
  readonly pass: (ms: number) => Promise<void>;
  readonly work: { ended: number; isDue: boolean };
  readonly tasks: TaskScope;
  /** Until when local targets are answered, from the start; and whether the views are kept back. */
  readonly state: { leftMs: () => number; isWithheld: boolean };
} {
  const simulation = new Simulation({ seed: 1 });
  const { runtime } = simulation.node({ name: "eu", addresses: ["10.0.0.1"] });
  const work = { ended: 0, isDue: false };
  let untilMs = Number.POSITIVE_INFINITY;
  const state = { leftMs: () => untilMs - runtime.clock.monotonicMs(), isWithheld: false };
  const tasks = new TaskScope(runtime.log);
  const lease = new OperatorLease(runtime, {
    publication: { renew: (ms) => (untilMs = runtime.clock.monotonicMs() + ms) },
    leaseMs: 30_000,
    progress: () => work,
    withhold: (isWithheld) => (state.isWithheld = isWithheld),
  });
  tasks.start("lease", (signal) => lease.run(signal));
  return { lease, work, tasks, state, pass: (ms) => simulation.run({ untilMs: simulation.nowMs + ms }) };
}

test("an operator that has not begun to vouch has no problem, however long the machine runs", async () => {
  const simulation = new Simulation({ seed: 1 });
  const { runtime } = simulation.node({ name: "eu", addresses: ["10.0.0.1"] });
  await simulation.run({ untilMs: 10_000_000 });
  const lease = new OperatorLease(runtime, {
    ...{ publication: undefined, leaseMs: 30_000, withhold() {} },
    progress: () => ({ ended: 0, isDue: true }),
  });
  assert.equal(lease.problem, undefined);
});

test("an operator that has nothing to do holds its lease, and one that is stopped gives it up by its time", async () => {
  const { pass, state, tasks } = open();
  for (let minutes = 0; minutes < 20; minutes++) {
    await pass(60_000);
    assert.ok(state.leftMs() >= 25_000 && !state.isWithheld);
  }
  void tasks.close();
  await pass(30_000);
  assert.ok(state.leftMs() <= 0);
});

test("a loop that ends ends the lease; one that is told to end does not", async () => {
  const { lease, pass, state, tasks } = open();
  let finish = (): void => {};
  const ended = new Promise<void>((resolve) => (finish = resolve));
  tasks.start(
    "gslbs",
    lease.vital("gslbs", () => ended),
  );
  await pass(100_000);
  assert.equal(lease.problem, undefined);
  finish();
  await pass(29_000);
  assert.equal(lease.problem, "gslbs ended");
  assert.equal(state.isWithheld, false, "within the time of the lease");
  await pass(10_000);
  assert.deepEqual([state.isWithheld, state.leftMs() <= 0], [true, true]);
});

test("work of which nothing ends is stuck after five minutes; failures are progress, so an API server's outage is not", async () => {
  const { lease, work, pass, state } = open();
  work.isDue = true;
  for (let request = 0; request < 40; request++) {
    await pass(30_000);
    work.ended += 1;
  }
  assert.deepEqual([lease.problem, state.isWithheld], [undefined, false]);
  await pass(299_000);
  assert.equal(lease.problem, undefined);
  await pass(40_000);
  assert.match(lease.problem!, /no reconcile has ended for 3\d\d s/);
  assert.equal(state.isWithheld, true);
  work.ended += 1;
  await pass(6_000);
  assert.deepEqual([lease.problem, state.isWithheld, state.leftMs() > 0], [undefined, false, true]);
});
