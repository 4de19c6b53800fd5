import assert from "node:assert/strict";
import { test } from "node:test";
import { Simulation } from "@meridian/runtime/sim";
import fc from "fast-check";
import { Fifo } from "./fifo.ts";
import { afterAdd, afterDone } from "./place.ts";
import { WorkQueue } from "./work-queue.ts";

function world(options: ConstructorParameters<typeof WorkQueue>[1] = {}): {
  simulation: Simulation;
  queue: WorkQueue;
} {
  const simulation = new Simulation({ seed: 1 });
  const { runtime } = simulation.node({ name: "a", addresses: ["10.0.0.1"] });
  return { simulation, queue: new WorkQueue(runtime, options) };
}

test("a key has one place", () => {
  assert.deepEqual(
    [undefined, "queued", "running", "running, changed since"].map((place) => afterAdd(place as never)),
    ["queued", "queued", "running, changed since", "running, changed since"],
  );
  assert.deepEqual(
    ["running", "running, changed since"].map((place) => afterDone(place as never)),
    [undefined, "queued"],
  );
});

test("keys come out in the order of their first add, each once", async () => {
  const { queue } = world();
  for (const key of ["a", "b", "a", "c", "b"]) queue.add(key);
  assert.equal(queue.length, 3);
  assert.deepEqual([await queue.take(), await queue.take(), await queue.take()], ["a", "b", "c"]);
});

test("a key added while a worker has it is handed out once more, after that worker is done", async () => {
  const { queue } = world();
  queue.add("a");
  assert.equal(await queue.take(), "a");
  queue.add("a");
  queue.add("a");
  assert.equal(queue.length, 0);
  const next = queue.take();
  queue.done("a");
  assert.equal(await next, "a");
  queue.done("a");
  await queue.idle();
  assert.equal(queue.length + queue.running, 0);
});

test("no key is with two workers at once and no add is lost, whatever the workers do", async () => {
  const action = fc.oneof(
    fc.record({ do: fc.constant("add" as const), key: fc.constantFrom("a", "b", "c") }),
    fc.record({ do: fc.constantFrom("take" as const, "done" as const), key: fc.constantFrom("a", "b", "c") }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 60 }), async (actions) => {
      const { queue } = world();
      const held = new Set<string>();
      const owed = new Set<string>();
      for (const { do: what, key } of actions) {
        if (what === "add") {
          queue.add(key);
          owed.add(key);
        } else if (what === "done" && held.delete(key)) {
          queue.done(key);
        } else if (what === "take" && queue.length > 0) {
          const taken = (await queue.take()) as string;
          assert.ok(!held.has(taken), "two workers have one key");
          assert.ok(owed.delete(taken), "a key came that nobody had added since it was last taken");
          held.add(taken);
        }
      }
      for (const key of held) queue.done(key);
      while (queue.length > 0) {
        const taken = (await queue.take()) as string;
        assert.ok(owed.delete(taken));
        queue.done(taken);
      }
      assert.equal(owed.size, 0);
    }),
  );
});

test("a delayed key comes at its time, and the earlier of two delays counts", async () => {
  const { simulation, queue } = world();
  queue.addAfter("a", 500);
  queue.addAfter("a", 200);
  queue.addAfter("a", 900);
  queue.addAfter("now", 0);
  assert.deepEqual([queue.length, queue.delayed], [1, 1]);
  await simulation.run({ untilMs: 199 });
  assert.equal(queue.length, 1);
  await simulation.run({ untilMs: 200 });
  assert.deepEqual([queue.length, queue.delayed], [2, 0]);
  await simulation.run({ untilMs: 2000 });
  assert.equal(queue.length, 2);
});

test("the wait of a failing key doubles up to the cap, and starts anew when it is forgotten", () => {
  const { queue } = world({ retryMsMax: 50 });
  assert.deepEqual(
    Array.from({ length: 6 }, () => queue.addRateLimited("a")),
    [5, 10, 20, 40, 50, 50],
  );
  assert.equal(queue.failures("a"), 6);
  assert.equal(queue.addRateLimited("b"), 5);
  queue.forget("a");
  assert.equal(queue.addRateLimited("a"), 5);
});

test("the default waits are those of client-go: 5 ms, doubling, at most 1000 s", () => {
  const { queue } = world();
  const waits = Array.from({ length: 2000 }, () => queue.addRateLimited("a"));
  assert.deepEqual(
    [waits[0], waits[10], waits[17], waits[18], waits[1999]],
    [5, 5120, 655_360, 1_000_000, 1_000_000],
  );
});

test("shut down, the queue hands out what it has, takes nothing more, and waits for its workers", async () => {
  const { simulation, queue } = world();
  queue.add("a");
  queue.add("b");
  queue.addAfter("late", 10);
  assert.equal(await queue.take(), "a");
  let over = false;
  const shutDown = queue.shutDown().then(() => (over = true));
  queue.add("c");
  queue.add("a");
  await simulation.run({ untilMs: 1000 });
  assert.equal(await queue.take(), "b");
  assert.equal(await queue.take(), undefined);
  queue.done("a");
  await simulation.run({ untilMs: 2000 });
  assert.equal(over, false);
  queue.done("b");
  await shutDown;
});

test("a shut down that drops leaves nothing to do and wakes the workers that wait", async () => {
  const { queue } = world();
  const waiting = queue.take();
  await queue.shutDown({ drop: true });
  assert.equal(await waiting, undefined);
  const other = world().queue;
  other.add("a");
  await other.shutDown({ drop: true });
  assert.equal(await other.take(), undefined);
});

test("a list keeps its order however adds and takes alternate", () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 300 }), (adds) => {
      const list = new Fifo<number>();
      const model: number[] = [];
      adds.forEach((add, index) => {
        if (add) {
          list.push(index);
          model.push(index);
        } else assert.equal(list.shift(), model.shift());
        assert.equal(list.length, model.length);
      });
    }),
  );
});
