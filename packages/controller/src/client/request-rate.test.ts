import assert from "node:assert/strict";
import { test } from "node:test";
import { configMapType } from "@meridian/kube";
import { json, scriptedWorld } from "../testdata/scripted-http.ts";
import type { ApiError } from "./api-error.ts";
import { KubeClient } from "./kube-client.ts";
import { RequestRate } from "./request-rate.ts";

test("a burst leaves at once, and then so many a second", async () => {
  const { simulation, runtime } = scriptedWorld(() => json({}));
  const rate = new RequestRate(runtime.clock, { qps: 5, burst: 10 });
  const waits = Array.from({ length: 13 }, () => rate.take(10_000));
  assert.deepEqual(waits, [...Array.from({ length: 10 }, () => 0), 200, 400, 600]);
  await simulation.run({ untilMs: 60_000 });
  assert.deepEqual(
    Array.from({ length: 11 }, () => rate.take(10_000)),
    [...Array.from({ length: 10 }, () => 0), 200],
  );
});

test("what would have to wait too long takes no turn", () => {
  const { runtime } = scriptedWorld(() => json({}));
  const rate = new RequestRate(runtime.clock, { qps: 1, burst: 1 });
  assert.equal(rate.take(0), 0);
  for (let count = 0; count < 5; count++) assert.equal(rate.take(999), undefined);
  assert.equal(rate.take(1000), 1000);
});

test("a limit that lets nothing through is refused", () => {
  const { runtime } = scriptedWorld(() => json({}));
  for (const limit of [
    { qps: 0, burst: 1 },
    { qps: 1, burst: 0 },
    { qps: Number.NaN, burst: 1 },
  ]) {
    assert.throws(() => new RequestRate(runtime.clock, limit), RangeError);
  }
});

test("requests of a client leave in their order at its rate, and none leaves too late", async () => {
  const sentAtMs: number[] = [];
  const world = scriptedWorld(() => {
    sentAtMs.push(world.simulation.nowMs);
    return json({ metadata: { name: "a" } });
  });
  const client = new KubeClient(world.runtime, {
    origin: "https://10.0.0.2:6443",
    rateLimit: { qps: 10, burst: 2 },
    deadlineMs: 350,
  });
  const asking = Array.from({ length: 6 }, (_, index) =>
    client.get(configMapType, { namespace: "n", name: `a${index}` }),
  );
  const outcomes = await world.simulation.complete(Promise.allSettled(asking));
  assert.deepEqual(sentAtMs, [0, 0, 100, 200, 300]);
  assert.deepEqual(
    world.requests.map(({ target }) => target.at(-1)),
    ["0", "1", "2", "3", "4"],
  );
  const refused = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
  assert.deepEqual(
    refused.map((error: ApiError) => [error.reason, error.objectName]),
    [["RateLimited", "a5"]],
  );
});

test("a request that gives up while it waits for its turn is not sent", async () => {
  const world = scriptedWorld(() => json({ metadata: { name: "a" } }));
  const client = new KubeClient(world.runtime, { origin: "https://h", rateLimit: { qps: 1, burst: 1 } });
  const ref = { namespace: "n", name: "a" };
  await client.get(configMapType, ref);
  const stop = new AbortController();
  const reason = new Error("enough");
  world.simulation.schedule(500, () => stop.abort(reason));
  await assert.rejects(
    world.simulation.complete(client.get(configMapType, ref, { signal: stop.signal })),
    reason,
  );
  assert.deepEqual([world.requests.length, world.simulation.pendingTimers], [1, 0]);
});
