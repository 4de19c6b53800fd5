import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConfigMap, KubeObject } from "@meridian/kube";
import { configMaps, fleet } from "../testdata/fleet.ts";
import type { Fleet } from "../testdata/fleet.ts";
import { Controller } from "./controller.ts";
import type { ControllerOptions } from "./controller.ts";
import { watchMapped, watchObjects, watchOwned } from "./source.ts";
import type { Source } from "./source.ts";

/** A controller over a copy; what it ran, as `key@priority order`, and how it stops. */
async function bench(
  sources: (world: Fleet) => readonly Source[],
  options: Partial<ControllerOptions> = {},
): Promise<
  Fleet & { readonly runs: string[]; readonly controller: Controller; readonly ran: Promise<void> }
> {
  const world = await fleet();
  const runs: string[] = [];
  const controller = new Controller(world.runtime, {
    name: "test",
    sources: sources(world),
    reconcile: async (key) => void runs.push(key),
    ...options,
  });
  const ran = controller.run(new AbortController().signal);
  ran.catch(() => {});
  return { ...world, runs, controller, ran };
}

test("it waits for the copy, sees everything that is there, and then each change", async () => {
  const world = await bench(({ informer }) => [watchObjects(informer)]);
  for (const name of ["a", "b"]) world.truth.put(name, {});
  await world.pass(100);
  assert.deepEqual([world.runs, world.controller.hasSynced], [[], false]);
  world.start();
  await world.pass(1000);
  assert.deepEqual([world.runs.splice(0), world.controller.hasSynced], [["n/a", "n/b"], true]);
  world.truth.put("a", { v: "2" });
  world.truth.remove("b");
  await world.pass(1000);
  assert.deepEqual(world.runs, ["n/a", "n/b"]);
  await world.stop();
});

test("what was there at the start waits for what is news", async () => {
  const world = await bench(({ informer }) => [watchObjects(informer)], {
    reconcile: async (key) => {
      await world.runtime.clock.sleep(100);
      world.runs.push(key);
    },
  });
  for (let count = 0; count < 20; count++) world.truth.put(`old${count}`, {});
  world.start();
  await world.pass(550);
  world.truth.put("news", {});
  await world.pass(10_000);
  assert.ok(world.runs.indexOf("n/news") < 8, world.runs.join());
  assert.equal(world.runs.length, 21);
  await world.stop();
});

test("a copy that does not come in time ends the controller, which says what it waits for", async () => {
  const world = await bench(({ informer }) => [watchObjects(informer)]);
  await world.pass(120_001);
  await assert.rejects(world.ran, { code: "DeadlineExceeded", message: /test.*configmaps.*120000/ });
});

test("two sources of one copy do not mix up their keys, and one that fails for an object is asked again", async () => {
  let failures = 2;
  const world = await bench(({ informer }) => [
    watchObjects(informer, { predicate: { onAdd: ({ metadata }) => metadata.name === "a" } }),
    watchMapped(informer, {
      keysOf: ({ metadata }) => {
        if (metadata.name === "b" && failures-- > 0) throw new Error("not now");
        return [`mapped/${metadata.name}`];
      },
    }),
  ]);
  for (const name of ["a", "b"]) world.truth.put(name, {});
  world.start();
  await world.pass(500);
  assert.deepEqual(world.runs.toSorted(), ["mapped/a", "n/a"]);
  await world.pass(5000);
  assert.deepEqual(world.runs.toSorted(), ["mapped/a", "mapped/b", "n/a"]);
  await world.stop();
});

test("two controllers of one copy have their own keys, each serial", async () => {
  const first = await bench(({ informer }) => [watchObjects(informer)]);
  const runs: string[] = [];
  const second = new Controller(first.runtime, {
    name: "second",
    concurrency: 4,
    sources: [watchObjects(first.informer)],
    reconcile: async (key) => {
      runs.push(`+${key}`);
      await first.runtime.clock.sleep(50);
      runs.push(`-${key}`);
    },
  });
  void second.run(new AbortController().signal);
  first.start();
  for (let version = 0; version < 20; version++) {
    first.truth.put("a", { v: String(version) });
    await first.pass(20);
  }
  await first.pass(1000);
  const own = runs.filter((_, index) => index % 2 === 0);
  assert.ok(
    own.every((each) => each === "+n/a"),
    "a run began before the one before had ended",
  );
  assert.ok(own.length > 2 && first.runs.length > own.length, "the slow one merges what the fast one sees");
  await first.stop();
});

test("an object that changes hands wakes both owners", async () => {
  const queued: string[] = [];
  const informer = {
    addHandler: (handler: { onUpdate?: (old: KubeObject, now: KubeObject, about: object) => void }) => {
      handler.onUpdate?.(ownedBy("x"), ownedBy("y"), { resync: false });
      handler.onUpdate?.(ownedBy("z"), ownedBy("z"), { resync: true });
    },
  };
  watchOwned(informer as never, { owner: configMaps }).attach({
    enqueue: (key, { priority = 0 } = {}) => queued.push(`${key} ${priority}`),
  });
  assert.deepEqual(queued, ["n/x 0", "n/y 0", "n/z -100"]);
});

function ownedBy(name: string): ConfigMap {
  const owner = { apiVersion: "v1", kind: "ConfigMap", name, uid: name, controller: true };
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "o", namespace: "n", ownerReferences: [owner] },
  };
}

test("a failure is told on the object, with its cause, and every time", async () => {
  const told: string[] = [];
  const world = await bench(({ informer }) => [watchObjects(informer)], {
    reconcile: async () => {
      throw new Error("cannot write", { cause: new Error("quota is used up") });
    },
    events: {
      record: ({ metadata }, { reason, message }) => told.push(`${metadata.name} ${reason} ${message}`),
    },
    retryMsMax: 5,
  });
  world.truth.put("a", {});
  world.start();
  await world.pass(1000);
  assert.equal(told[0], "a ReconcileFailed test: cannot write: quota is used up");
  assert.equal(told.length, world.controller.counts.failed);
  await world.stop();
});

test("an object that cannot be told of its failure does not end the worker", async () => {
  let failures = 0;
  const world = await bench(({ informer }) => [watchObjects(informer)], {
    reconcile: async (key) => {
      if (key === "n/a") throw new Error("no");
      world.runs.push(key);
    },
    events: {
      record: () => {
        failures++;
        throw new Error("the recorder is broken");
      },
    },
  });
  for (const name of ["a", "b"]) world.truth.put(name, {});
  world.start();
  await world.pass(1000);
  assert.deepEqual(world.runs, ["n/b"]);
  assert.ok(failures > 1);
  await world.stop();
});
