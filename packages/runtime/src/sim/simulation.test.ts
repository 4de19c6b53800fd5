import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, it } from "node:test";

import { collect, toBytes, toText } from "../contracts/contract-subject.ts";
import type { Runtime } from "../runtime.ts";
import { Simulation } from "./simulation.ts";

describe("the simulation", () => {
  it("repeats a run from its seed, to the octet", async () => {
    const [first, again, other] = [await story(7), await story(7), await story(8)];
    assert.deepEqual(again, first);
    assert.notEqual(other.hash, first.hash);
    assert.ok(first.trace.length > 100, `the story has only ${first.trace.length} events`);
  });

  it("does not let draws for one purpose shift those for another", async () => {
    const arrivals = async (extraDraws: number): Promise<readonly number[]> => {
      const simulation = new Simulation({ seed: 3 });
      const a = simulation.node({ name: "a", addresses: ["10.0.0.1"] }).runtime;
      const b = simulation.node({ name: "b", addresses: ["10.0.0.2"] }).runtime;
      simulation.node({ name: "c", addresses: ["10.0.0.3"] });
      for (let i = 0; i < extraDraws; i++) a.random.uint32();
      const atMs: number[] = [];
      await simulation.complete(chat(a, b, { messages: 20, onArrival: () => atMs.push(simulation.nowMs) }));
      return atMs;
    };
    assert.deepEqual(await arrivals(0), await arrivals(5));
  });

  it("lets a century pass at once, one timer after the other", async () => {
    const simulation = new Simulation({ seed: 1, startTimeMs: 1_000_000 });
    const { clock } = simulation.node({ name: "a", addresses: ["10.0.0.1"] }).runtime;
    const order: string[] = [];
    const century = 100 * 365 * 86_400_000;
    clock.after(century, () => order.push("century"));
    clock.after(1, () => order.push("a millisecond"));
    await simulation.run();
    assert.deepEqual(order, ["a millisecond", "century"]);
    assert.equal(clock.now(), 1_000_000 + century);
  });

  it("fires thousands of timers", async () => {
    const simulation = new Simulation({ seed: 1 });
    const { clock } = simulation.node({ name: "a", addresses: ["10.0.0.1"] }).runtime;
    let fired = 0;
    for (let i = 0; i < 5_000; i++) clock.after((i * 7_919) % 1_000, () => fired++);
    const cancels = Array.from({ length: 5_000 }, (_, i) => clock.after(i, () => assert.fail("cancelled")));
    for (const cancel of cancels) cancel();
    assert.equal(simulation.pendingTimers, 5_000);
    await simulation.run();
    assert.equal(fired, 5_000);
    assert.equal(simulation.pendingTimers, 0);
  });

  it("stops at a time, at a condition, and says the seed when the condition never holds", async () => {
    const simulation = new Simulation({ seed: 42 });
    const { clock } = simulation.node({ name: "a", addresses: ["10.0.0.1"] }).runtime;
    let ticks = 0;
    const tick = (): void => {
      ticks++;
      clock.after(10, tick);
    };
    clock.after(10, tick);
    await simulation.run({ untilMs: 105 });
    assert.deepEqual([simulation.nowMs, ticks], [105, 10]);
    await simulation.run({ until: () => ticks === 20 });
    assert.deepEqual([simulation.nowMs, ticks], [200, 20]);
    await assert.rejects(simulation.run({ untilMs: 300, until: () => ticks === 100 }), /seed 42/);
    await assert.rejects(new Simulation({ seed: 5 }).run({ until: () => false }), /seed 5.*nothing is left/);
  });

  it("shows each step to its observers when all has settled, and stops at what they throw", async () => {
    const simulation = new Simulation({ seed: 1 });
    const { clock } = simulation.node({ name: "a", addresses: ["10.0.0.1"] }).runtime;
    let begun = 0;
    let done = 0;
    const work = async (): Promise<void> => {
      begun++;
      for (let i = 0; i < 50; i++) await Promise.resolve();
      done++;
    };
    for (let i = 1; i <= 10; i++) clock.after(i, () => void work());
    const forget = simulation.onStep(() => assert.equal(done, begun));
    await simulation.run({ until: () => done === 5 });
    forget();
    simulation.onStep(() => {
      if (done === 7) throw new Error("seven is wrong");
    });
    await assert.rejects(simulation.run(), /seven is wrong/);
    assert.equal(done, 7);
  });

  it("stops at what a timer's callback throws", async () => {
    const simulation = new Simulation({ seed: 1 });
    const { clock } = simulation.node({ name: "a", addresses: ["10.0.0.1"] }).runtime;
    clock.after(1, () => {
      throw new Error("a bug");
    });
    await assert.rejects(simulation.run(), /a bug/);
  });

  it("acts for the scenario at a virtual time", async () => {
    const simulation = new Simulation({ seed: 1 });
    const acts: number[] = [];
    simulation.schedule(50, () => acts.push(simulation.nowMs));
    const cancel = simulation.schedule(60, () => acts.push(simulation.nowMs));
    simulation.schedule(55, cancel);
    await simulation.run();
    assert.deepEqual(acts, [50]);
  });
});

describe("a node that crashes", () => {
  it("fires no timer, ends no wait and keeps nothing, not even a listener on a signal", async () => {
    const simulation = new Simulation({ seed: 1 });
    const node = simulation.node({ name: "a", addresses: ["10.0.0.1"] });
    const { clock, network, disk } = node.runtime;
    const abort = new AbortController();
    const lived: string[] = [];
    const note = (what: string) => (): void => {
      lived.push(what);
    };
    clock.after(10, note("timer"));
    void clock.sleep(10, abort.signal).then(note("slept"), note("woken"));
    const to = { address: "10.9.9.9", port: 1 };
    void network.connectTcp({ to, signal: abort.signal }).then(note("connected"), note("not connected"));
    const client = network.httpClient({ origin: "http://10.9.9.9:1" });
    const asked = client.request({ method: "GET", target: "/", signal: abort.signal });
    void asked.then(note("answered"), note("failed"));
    void disk.replace("file", toBytes("x")).then(note("replaced"));
    await simulation.run({ untilMs: 0 });
    assert.ok(getEventListeners(abort.signal, "abort").length >= 3);
    node.crash();
    assert.equal(getEventListeners(abort.signal, "abort").length, 0);
    assert.equal(simulation.pendingTimers, 0);
    abort.abort();
    await simulation.run({ untilMs: 1_000_000 });
    assert.deepEqual(lived, []);
  });

  it("reaches nothing any more through its old runtime", async () => {
    const simulation = new Simulation({ seed: 1 });
    const node = simulation.node({ name: "a", addresses: ["10.0.0.1"] });
    const peer = simulation.node({ name: "b", addresses: ["10.0.0.2"] }).runtime;
    const dead = node.runtime;
    const got: string[] = [];
    const onDatagram = (datagram: Uint8Array): void => {
      got.push(toText(datagram));
    };
    await peer.network.bindUdp({ address: "10.0.0.2", port: 53, onDatagram });
    const socket = await dead.network.bindUdp({ address: "10.0.0.1", port: 0, onDatagram() {} });
    node.crash();
    const lived: string[] = [];
    socket.send(toBytes("from beyond"), { address: "10.0.0.2", port: 53 });
    dead.clock.after(1, () => lived.push("timer"));
    void dead.clock.sleep(1).then(() => lived.push("slept"));
    void dead.disk.replace("file", toBytes("x")).then(() => lived.push("replaced"));
    void dead.network
      .bindUdp({ address: "10.0.0.1", port: 1, onDatagram() {} })
      .then(() => lived.push("bound"));
    await simulation.run({ untilMs: 10_000 });
    assert.deepEqual([got, lived], [[], []]);
    assert.throws(() => node.runtime, /node a is down/);
    const restarted = node.restart();
    assert.equal(await simulation.complete(restarted.disk.read("file")), undefined);
  });

  it("starts again with its addresses, other random numbers and another monotonic clock", async () => {
    const simulation = new Simulation({ seed: 1 });
    const node = simulation.node({ name: "a", addresses: ["10.0.0.1"] });
    const before = node.runtime;
    const answer = (): number => 0;
    await before.network.serveUdp({ address: "10.0.0.1", port: 53, answer });
    const after = node.restart();
    assert.equal(node.runtime, after);
    await after.network.serveUdp({ address: "10.0.0.1", port: 53, answer });
    assert.notEqual(after.random.uuid(), before.random.uuid());
    assert.notEqual(Math.round(after.clock.monotonicMs()), Math.round(before.clock.monotonicMs()));
  });
});

describe("a node's clock", () => {
  it("may be ahead and jump, while waits and the monotonic clock go on evenly", async () => {
    const simulation = new Simulation({ seed: 1, startTimeMs: 1_000_000 });
    const node = simulation.node({ name: "a", addresses: ["10.0.0.1"], skewMs: 500 });
    const { clock } = node.runtime;
    const startMs = clock.monotonicMs();
    assert.equal(clock.now(), 1_000_500);
    simulation.schedule(40, () => (node.skewMs = -3_600_000));
    let wokenAtMs = 0;
    clock.after(100, () => (wokenAtMs = simulation.nowMs));
    await simulation.run();
    assert.equal(wokenAtMs, 100);
    assert.equal(clock.now(), 1_000_100 - 3_600_000);
    assert.ok(Math.abs(clock.monotonicMs() - startMs - 100) < 0.001);
  });
});

/** A bit of everything, under loss, a partition and a crash. */
async function story(seed: number): Promise<{ readonly hash: string; readonly trace: readonly string[] }> {
  const trace: string[] = [];
  const simulation = new Simulation({
    seed,
    link: { loss: 0.1, duplication: 0.1 },
    onTrace: (line) => trace.push(line),
  });
  const a = simulation.node({ name: "a", addresses: ["10.0.0.1"] });
  const b = simulation.node({ name: "b", addresses: ["10.0.0.2"] });
  simulation.schedule(200, () => simulation.partition("a", "b"));
  simulation.schedule(500, () => simulation.heal());
  simulation.schedule(3_500, () => a.crash());
  simulation.schedule(3_600, () => a.restart());
  void chat(a.runtime, b.runtime, { messages: 300, onArrival() {} });
  void serveTime(a.runtime);
  void followTime(b.runtime);
  void writeLog(a.runtime);
  await simulation.run({ untilMs: 60_000 });
  const log = await simulation.complete(a.runtime.disk.read("log"));
  return { hash: `${simulation.traceHash} ${log?.length ?? 0}`, trace };
}

async function chat(
  from: Runtime,
  to: Runtime,
  options: { readonly messages: number; readonly onArrival: () => void },
): Promise<void> {
  let arrived = 0;
  const sink = await to.network.bindUdp({
    address: "0.0.0.0",
    port: 4_000,
    onDatagram() {
      arrived++;
      options.onArrival();
    },
  });
  const socket = await from.network.bindUdp({ address: "0.0.0.0", port: 0, onDatagram() {} });
  for (let i = 0; i < options.messages; i++) {
    socket.send(from.random.bytes(20), { address: "10.0.0.2", port: sink.local.port });
    await from.clock.sleep(10);
  }
  while (arrived === 0) await to.clock.sleep(1);
}

async function serveTime(runtime: Runtime): Promise<void> {
  await runtime.network.serveHttp({
    address: "10.0.0.1",
    port: 80,
    bodyBytesMax: 1_000,
    handler: async ({ signal }) => ({
      status: 200,
      headers: {},
      body: (async function* () {
        for (let i = 0; i < 20 && !signal.aborted; i++) {
          yield toBytes(`${runtime.clock.now()}\n`);
          await runtime.clock.sleep(runtime.random.float() * 50);
        }
      })(),
    }),
  });
}

async function followTime(runtime: Runtime): Promise<void> {
  await using client = runtime.network.httpClient({ origin: "http://10.0.0.1:80" });
  for (let i = 0; i < 10; i++) {
    try {
      const { body } = await client.request({ method: "GET", target: "/" });
      await collect(body);
    } catch {
      await runtime.clock.sleep(100);
    }
  }
}

async function writeLog(runtime: Runtime): Promise<void> {
  const log = await runtime.disk.openLog("log");
  for (let i = 0; ; i++) {
    await log.append(runtime.random.bytes(10));
    if (i % 7 === 0) await log.sync();
    await runtime.clock.sleep(20);
  }
}
