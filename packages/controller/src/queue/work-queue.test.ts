import assert from "node:assert/strict";
import { test } from "node:test";
import { Simulation } from "@meridian/runtime/sim";
import fc from "fast-check";
import { Fifo } from "./fifo.ts";
import { mergeWishes } from "./wish.ts";
import { WorkQueue } from "./work-queue.ts";

function world(options: ConstructorParameters<typeof WorkQueue>[1] = {}): {
  simulation: Simulation;
  queue: WorkQueue;
} {
  const simulation = new Simulation({ seed: 1 });
  const { runtime } = simulation.node({ name: "a", addresses: ["10.0.0.1"] });
  return { simulation, queue: new WorkQueue(runtime, options) };
}

/** The keys in the order in which one worker gets them. */
async function drain(queue: WorkQueue): Promise<readonly string[]> {
  const keys: string[] = [];
  while (queue.length > 0) {
    const { key = "" } = (await queue.take()) ?? {};
    keys.push(key);
    queue.done(key);
  }
  return keys;
}

test("two wishes for a key are one: the higher priority and the earlier time", () => {
  const wish = { priority: 0, readyAtMs: 10 };
  assert.equal(mergeWishes(undefined, wish), wish);
  assert.equal(mergeWishes(wish, { priority: -100, readyAtMs: 20 }), wish);
  assert.deepEqual(mergeWishes(wish, { priority: -100, readyAtMs: 5 }), { priority: 0, readyAtMs: 5 });
  assert.deepEqual(mergeWishes(wish, { priority: 7, readyAtMs: 20 }), { priority: 7, readyAtMs: 10 });
});

test("keys come out in the order of their first add, each once", async () => {
  const { queue } = world();
  for (const key of ["a", "b", "a", "c", "b"]) queue.add(key);
  assert.equal(queue.length, 3);
  assert.deepEqual(await drain(queue), ["a", "b", "c"]);
});

test("the higher priority goes first, and a key that is added again more urgently moves up", async () => {
  const { queue } = world();
  for (const key of ["a", "b", "c", "d"]) queue.add(key, { priority: -100 });
  queue.add("now");
  queue.add("c");
  queue.add("now", { priority: -100 });
  queue.add("first", { priority: 10 });
  assert.deepEqual(
    [...queue.depths],
    [
      [10, 1],
      [0, 2],
      [-100, 3],
    ],
  );
  assert.deepEqual(await drain(queue), ["first", "now", "c", "a", "b", "d"]);
  assert.deepEqual([...queue.depths], []);
});

test("ten thousand keys of one namespace delay a key of another by one", async () => {
  const { queue } = world();
  for (let count = 0; count < 10_000; count++) queue.add(`noisy/${count}`);
  queue.add("quiet/a");
  queue.add("other/a");
  queue.add("quiet/b");
  const order = await drain(queue);
  assert.deepEqual(order.slice(0, 6), ["noisy/0", "quiet/a", "other/a", "noisy/1", "quiet/b", "noisy/2"]);
  assert.equal(order.length, 10_003);
});

test("what a worker is told of a key is the priority at which it was taken", async () => {
  const { queue } = world();
  queue.add("a", { priority: -100 });
  assert.deepEqual(await queue.take(), { key: "a", priority: -100 });
  queue.add("a", { priority: -100 });
  queue.addAfter("a", 5, { priority: 3 });
  queue.done("a");
  assert.deepEqual(await queue.take(), { key: "a", priority: 3 });
});

test("a key added while a worker has it is handed out once more, after that worker is done", async () => {
  const { queue } = world();
  queue.add("a");
  assert.equal((await queue.take())?.key, "a");
  queue.add("a");
  queue.add("a");
  assert.equal(queue.length, 0);
  const next = queue.take();
  queue.done("a");
  assert.equal((await next)?.key, "a");
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
          const taken = (await queue.take())?.key as string;
          assert.ok(!held.has(taken), "two workers have one key");
          assert.ok(owed.delete(taken), "a key came that nobody had added since it was last taken");
          held.add(taken);
        }
      }
      for (const key of held) queue.done(key);
      while (queue.length > 0) {
        const taken = (await queue.take())?.key as string;
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
  assert.deepEqual([queue.length, queue.delayed, simulation.pendingTimers], [1, 1, 1]);
  await simulation.run({ untilMs: 199 });
  assert.equal(queue.length, 1);
  await simulation.run({ untilMs: 200 });
  assert.deepEqual([queue.length, queue.delayed], [2, 0]);
  await simulation.run({ untilMs: 2000 });
  assert.equal(queue.length, 2);
});

test("a delayed key that is added now is no longer delayed: one run is enough", async () => {
  const { simulation, queue } = world();
  queue.addAfter("a", 500);
  queue.add("a");
  assert.deepEqual([queue.length, queue.delayed, simulation.pendingTimers], [1, 0, 0]);
});

test("a delay that passes while a worker has the key counts when the key is given back", async () => {
  const { simulation, queue } = world();
  queue.add("a");
  await queue.take();
  queue.addAfter("a", 100);
  assert.deepEqual([queue.delayed, simulation.pendingTimers], [0, 0]);
  await simulation.run({ untilMs: 200 });
  queue.done("a");
  assert.deepEqual([queue.length, queue.delayed], [1, 0]);
});

test("the wait of a failing key doubles up to the cap, and starts anew when it is forgotten", () => {
  const { queue } = world({ retryMsMax: 50, retryRate: "unlimited" });
  assert.deepEqual(
    Array.from({ length: 6 }, () => queue.addRateLimited("a")),
    [5, 10, 20, 40, 50, 50],
  );
  assert.equal(queue.failures("a"), 6);
  assert.equal(queue.addRateLimited("b"), 5);
  queue.forget("a");
  assert.equal(queue.addRateLimited("a"), 5);
});

test("of the key's own wait and that of all retries together, 100 at once and 10 a second, the longer counts", () => {
  const { queue } = world();
  const waits = Array.from({ length: 120 }, (_, index) => queue.addRateLimited(String(index)));
  assert.deepEqual(new Set(waits.slice(0, 100)), new Set([5]));
  assert.deepEqual(waits.slice(100, 103).map(Math.round), [100, 200, 300]);
  for (let count = 0; count < 12; count++) queue.addRateLimited("0");
  assert.equal(queue.addRateLimited("0"), 5 * 2 ** 13);
});

test("the default waits are those of client-go: 5 ms, doubling, at most 1000 s", () => {
  const { queue } = world({ retryRate: "unlimited" });
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
  assert.equal((await queue.take())?.key, "a");
  let over = false;
  const shutDown = queue.shutDown().then(() => (over = true));
  queue.add("c");
  queue.add("a");
  await simulation.run({ untilMs: 1000 });
  assert.equal((await queue.take())?.key, "b");
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
