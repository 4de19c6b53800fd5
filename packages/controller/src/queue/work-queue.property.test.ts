import assert from "node:assert/strict";
import { test } from "node:test";
import { Simulation } from "@meridian/runtime/sim";
import fc from "fast-check";
import { NaiveQueue } from "../testdata/naive-queue.ts";
import { DelayedKeys } from "./delayed-keys.ts";
import { WorkQueue } from "./work-queue.ts";

const key = fc.constantFrom("a/1", "a/2", "a/3", "b/1", "b/2", "c/1", "node");
const action = fc.oneof(
  fc.record({ do: fc.constant("add" as const), key, priority: fc.constantFrom(-100, 0, 5) }),
  fc.record({
    do: fc.constant("addAfter" as const),
    key,
    priority: fc.constantFrom(-100, 0),
    ms: fc.integer({ min: -1, max: 50 }),
  }),
  fc.record({ do: fc.constant("take" as const) }),
  fc.record({ do: fc.constant("done" as const), key }),
  fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 30 }) }),
);

test("the queue does what a naive one does, whatever is added, taken and given back", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 80 }), async (actions) => {
      const simulation = new Simulation({ seed: 1 });
      const { runtime } = simulation.node({ name: "a", addresses: ["10.0.0.1"] });
      const queue = new WorkQueue(runtime);
      const model = new NaiveQueue();
      const take = async (): Promise<string | undefined> => {
        const taken = model.take();
        if (taken !== undefined) assert.equal((await queue.take())?.key, taken);
        return taken;
      };
      for (const step of actions) {
        if (step.do === "add") {
          queue.add(step.key, { priority: step.priority });
          model.add(step.key, step.priority, 0);
        } else if (step.do === "addAfter") {
          queue.addAfter(step.key, step.ms, { priority: step.priority });
          model.add(step.key, step.priority, Math.max(0, step.ms));
        } else if (step.do === "take") {
          await take();
        } else if (step.do === "done") {
          queue.done(step.key);
          if (model.held.has(step.key)) model.done(step.key);
        } else {
          await simulation.run({ untilMs: simulation.nowMs + step.ms });
          model.advance(step.ms);
        }
        assert.deepEqual(
          [queue.length, queue.delayed, queue.running],
          [model.ready, model.delayed, model.held.size],
        );
      }
      for (const held of model.held) {
        queue.done(held);
        model.done(held);
      }
      await simulation.run({ untilMs: simulation.nowMs + 100 });
      model.advance(100);
      for (let taken = await take(); taken !== undefined; taken = await take()) {
        queue.done(taken);
        model.done(taken);
      }
      assert.deepEqual([queue.length, queue.delayed, queue.running, simulation.pendingTimers], [0, 0, 0, 0]);
    }),
    {
      numRuns: 1000,
      examples: [
        [
          [
            { do: "add", key: "a/3", priority: -100 },
            { do: "take" },
            { do: "addAfter", key: "a/3", priority: 0, ms: 37 },
            { do: "addAfter", key: "a/1", priority: 0, ms: 37 },
          ],
        ],
      ],
    },
  );
});

test("delayed keys come in the order of their times, with one timer for all of them", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 1, max: 100 })), {
        maxLength: 60,
      }),
      async (delays) => {
        const simulation = new Simulation({ seed: 1 });
        const { runtime } = simulation.node({ name: "a", addresses: ["10.0.0.1"] });
        const startMs = runtime.clock.monotonicMs();
        const due: string[] = [];
        const delayed = new DelayedKeys(runtime.clock, (each) =>
          due.push(`${each}@${Math.round(simulation.nowMs)}`),
        );
        const model = new Map<string, number>();
        for (const [name, ms] of delays) {
          if (ms % 7 === 0) {
            delayed.delete(String(name));
            model.delete(String(name));
          } else {
            delayed.set(String(name), startMs + ms);
            if (model.get(String(name)) !== ms) model.delete(String(name));
            model.set(String(name), ms);
          }
          assert.equal(simulation.pendingTimers, model.size === 0 ? 0 : 1);
        }
        await simulation.run({ untilMs: 200 });
        const expected = [...model].sort(([, a], [, b]) => a - b).map(([each, ms]) => `${each}@${ms}`);
        assert.deepEqual(due, expected);
        assert.equal(simulation.pendingTimers, 0);
      },
    ),
  );
});
