import assert from "node:assert/strict";
import { test } from "node:test";
import { Simulation } from "./simulation.ts";

test("a paused process does nothing, and then what is due in order; its clocks have gone on", async () => {
  const simulation = new Simulation({ seed: 1 });
  const node = simulation.node({ name: "a", addresses: ["10.0.0.1"] });
  const { clock } = node.runtime;
  const seen: string[] = [];
  const startMs = clock.monotonicMs();
  clock.after(2_000, () => seen.push("two"));
  const cancel = clock.after(3_000, () => seen.push("three"));
  clock.after(2_500, () => cancel());
  clock.after(20_000, () => seen.push("twenty"));
  await simulation.run({ untilMs: 1_000 });
  node.pause();
  await simulation.run({ untilMs: 10_000 });
  assert.deepEqual(seen, []);
  assert.equal(simulation.pendingTimers, 4);
  node.resume();
  await simulation.run({ untilMs: 10_000 });
  assert.deepEqual(seen, ["two"], "what a timer cancels that was due before does not fire");
  assert.equal(Math.round(clock.monotonicMs() - startMs), 10_000);
  await simulation.run();
  assert.deepEqual(seen, ["two", "twenty"]);
  assert.equal(simulation.nowMs, 20_000);
});

test("the monotonic clock of a suspended machine stands still, its wall clock does not", async () => {
  const simulation = new Simulation({ seed: 1 });
  const node = simulation.node({ name: "a", addresses: ["10.0.0.1"] });
  const { clock } = node.runtime;
  const [startMs, wallMs] = [clock.monotonicMs(), clock.now()];
  let firedAtMs = 0;
  clock.after(2_000, () => (firedAtMs = simulation.nowMs));
  await simulation.run({ untilMs: 1_000 });
  node.pause("machine");
  await simulation.run({ untilMs: 61_000 });
  node.resume();
  assert.equal(Math.round(clock.monotonicMs() - startMs), 1_000);
  assert.equal(clock.now() - wallMs, 61_000);
  await simulation.run();
  assert.equal(firedAtMs, 62_000);
});

test("what comes for a paused process waits for it", async () => {
  const simulation = new Simulation({ seed: 1 });
  const server = simulation.node({ name: "server", addresses: ["10.0.0.1"] });
  const { runtime } = simulation.node({ name: "client", addresses: ["10.0.0.2"] });
  const served = server.runtime.network.serveHttp({
    address: "10.0.0.1",
    port: 80,
    bodyBytesMax: 100,
    handler: async () => ({ status: 200, headers: {}, body: new Uint8Array() }),
  });
  await simulation.complete(served);
  server.pause();
  const answer = runtime.network
    .httpClient({ origin: "http://10.0.0.1" })
    .request({ method: "GET", target: "/" });
  await simulation.run({ untilMs: 5_000 });
  server.resume();
  assert.equal((await simulation.complete(answer)).status, 200);
  assert.ok(simulation.nowMs < 5_100);
});

test("a fast clock fires early, and says that its time has passed", async () => {
  const simulation = new Simulation({ seed: 1 });
  const { runtime } = simulation.node({ name: "a", addresses: ["10.0.0.1"], clockRate: 1.25 });
  const startMs = runtime.clock.monotonicMs();
  await simulation.complete(runtime.clock.sleep(10_000));
  assert.equal(simulation.nowMs, 8_000);
  assert.equal(Math.round(runtime.clock.monotonicMs() - startMs), 10_000);
});
