import assert from "node:assert/strict";
import { test } from "node:test";
import { leaseType, parseTime } from "@meridian/kube";
import { ElectionWorld } from "../testdata/election-world.ts";
import { electionTimes } from "./election-options.ts";
import type { LeaderTerm } from "./leader-term.ts";

test("the first candidate leads, the second waits, and follows at once when the first stops", async () => {
  const world = await ElectionWorld.start();
  const first = world.run(world.machine("a", "10.0.0.2"));
  await world.pass(1_000);
  const second = world.run(world.machine("b", "10.0.0.3"));
  await world.pass(60_000);
  assert.deepEqual([first.elector.status.leading, second.elector.status.leading], [true, false]);
  assert.equal(second.elector.status.holder, first.elector.identity);
  assert.equal(second.terms.length, 0);

  first.stop();
  await world.simulation.complete(first.ended);
  assert.equal(first.outcome(), "stopped");
  const { holderIdentity, leaseDurationSeconds } = world.lease?.spec ?? {};
  assert.deepEqual([holderIdentity, leaseDurationSeconds], ["", 1]);
  // The next try of the second: two seconds, or up to 2.2 times as many.
  await world.pass(4_500);
  assert.equal(second.elector.status.leading, true);
  assert.equal(world.lease?.spec?.leaseTransitions, 1);
});

test("js#828: what is written is what kube-apiserver takes: six decimals in both times, whole seconds", async () => {
  const world = await ElectionWorld.start();
  world.run(world.machine("a", "10.0.0.2"), { leaseDurationMs: 30_000 });
  await world.pass(10_000);
  const {
    acquireTime = "",
    renewTime = "",
    leaseDurationSeconds,
    leaseTransitions,
  } = world.lease?.spec ?? {};
  for (const time of [acquireTime, renewTime]) assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  assert.ok((parseTime(acquireTime) ?? 0) < (parseTime(renewTime) ?? 0));
  assert.deepEqual([leaseDurationSeconds, leaseTransitions], [30, 0]);
});

test("a leader renews without reading, and a candidate only reads", async () => {
  const world = await ElectionWorld.start();
  const leader = world.run(world.machine("a", "10.0.0.2"));
  await world.pass(1_000);
  const before = world.truth.counts;
  await world.pass(20_000);
  const after = world.truth.counts;
  assert.equal(after.get - before.get, 0);
  assert.ok(after.write - before.write >= 9);
  assert.equal(leader.elector.status.slowPaths, 0);
  world.run(world.machine("b", "10.0.0.3"));
  await world.pass(20_000);
  assert.equal(world.holder, leader.elector.identity);
});

test("somebody who touches the lease costs a read, not the leadership", async () => {
  const world = await ElectionWorld.start();
  const leader = world.run(world.machine("a", "10.0.0.2"));
  await world.pass(1_000);
  const { lease } = world;
  assert.ok(lease !== undefined);
  world.truth.put({ ...lease, metadata: { ...lease.metadata, labels: { touched: "yes" } } });
  await world.pass(5_000);
  assert.deepEqual([leader.elector.status.leading, leader.elector.status.slowPaths], [true, 1]);
  assert.deepEqual(world.lease?.metadata.labels, { touched: "yes" });
});

test("an outage that is shorter than the renew deadline is survived", async () => {
  const world = await ElectionWorld.start();
  const leader = world.run(world.machine("a", "10.0.0.2"));
  await world.pass(10_000);
  world.instead = async () => ({ status: 500, headers: {}, body: new Uint8Array() });
  await world.pass(7_000);
  world.instead = undefined;
  await world.pass(20_000);
  assert.deepEqual([leader.elector.status.leading, leader.terms.length], [true, 1]);
});

test("in a longer one the leader gives up before anybody may follow it, and says why", async () => {
  const world = await ElectionWorld.start();
  const a = world.machine("a", "10.0.0.2");
  const leader = world.run(a);
  await world.pass(10_500);
  world.simulation.partition("a", "server");
  await world.pass(8_000);
  assert.equal(leader.elector.status.leading, true);
  await world.pass(2_500);
  assert.equal(leader.elector.status.leading, false);
  assert.equal(leader.terms[0]?.signal.aborted, true);
  assert.throws(() => leader.terms[0]?.throwIfLost(), { code: "LeadershipLost" });
  await world.simulation.complete(leader.ended);
  const outcome = leader.outcome();
  assert.ok(outcome instanceof Error);
  assert.equal(outcome.message, "no longer the leader by lease n/role: it was not renewed within 10000 ms");
});

test("the time of a leader counts from the sending of a renewal, however late its answer comes", async () => {
  const world = await ElectionWorld.start();
  const { simulation, truth } = world;
  const leader = world.run(world.machine("a", "10.0.0.2"));
  await world.pass(1_000);
  let arrivedAtMs = 0;
  world.instead = async (request) => {
    arrivedAtMs = simulation.nowMs;
    const answer = await truth.handler(request);
    await new Promise<void>((resolve) => simulation.schedule(simulation.nowMs + 4_500, resolve));
    return answer;
  };
  await simulation.run({ until: () => arrivedAtMs > 0 });
  await world.pass(4_600);
  simulation.partition("a", "server");
  const renewedAtMs = arrivedAtMs;
  await simulation.run({ until: () => !leader.elector.status.leading });
  const lastedMs = simulation.nowMs - renewedAtMs;
  assert.ok(lastedMs <= 10_000 && lastedMs > 9_900, `it lasted ${lastedMs} ms`);
});

test("a process that was paused for too long knows before it does anything", async () => {
  const world = await ElectionWorld.start();
  const a = world.machine("a", "10.0.0.2");
  const acted: boolean[] = [];
  const act = async (term: LeaderTerm): Promise<void> => {
    while (!term.signal.aborted) {
      await a.runtime.clock.sleep(100);
      acted.push(term.leading);
    }
  };
  const leader = world.run(a, { work: act });
  const other = world.run(world.machine("b", "10.0.0.3"));
  await world.simulation.run({ until: () => world.holder === leader.elector.identity });
  await world.pass(3_000);
  a.pause();
  await world.pass(30_000);
  assert.equal(other.elector.status.leading, true);
  acted.length = 0;
  a.resume();
  await world.pass(2_000);
  assert.deepEqual(acted, [false]);
});

test("a machine that was suspended knows it by its wall clock", async () => {
  const world = await ElectionWorld.start();
  const a = world.machine("a", "10.0.0.2");
  const leader = world.run(a);
  await world.pass(3_000);
  a.pause("machine");
  await world.pass(30_000);
  a.resume();
  assert.equal(leader.terms[0]?.leading, false);
  await world.pass(100);
  assert.equal(leader.terms[0]?.signal.aborted, true);
});

test("the signal of a suspended machine's leader aborts within a second, even if nobody asks", async () => {
  const world = await ElectionWorld.start();
  const a = world.machine("a", "10.0.0.2");
  const leader = world.run(a);
  await world.pass(3_000);
  a.pause("machine");
  world.simulation.partition("a", "server");
  await world.pass(30_000);
  a.resume();
  await world.pass(1_000);
  assert.equal(leader.terms[0]?.signal.aborted, true);
});

test("clocks that jump change nothing for who waits, and cost a leader its term only when it seems to have slept", async () => {
  const world = await ElectionWorld.start();
  const [a, b] = [world.machine("a", "10.0.0.2"), world.machine("b", "10.0.0.3")];
  const leader = world.run(a);
  await world.pass(1_000);
  const other = world.run(b);
  await world.pass(5_000);
  b.skewMs = 3_600_000;
  await world.pass(30_000);
  b.skewMs = -3_600_000;
  await world.pass(30_000);
  a.skewMs = -3_600_000;
  await world.pass(30_000);
  assert.deepEqual([leader.elector.status.leading, other.elector.status.leading], [true, false]);
  a.skewMs = 3_600_000;
  assert.equal(leader.elector.status.leading, false);
  await world.pass(5_000);
  assert.equal(other.elector.status.leading, true, "the lease was released, since the work had ended");
});

test("while the work ends the lease is renewed, and only then released", async () => {
  const world = await ElectionWorld.start();
  const a = world.machine("a", "10.0.0.2");
  const slow = async (term: LeaderTerm): Promise<void> => {
    await new Promise<void>((resolve) => term.signal.addEventListener("abort", () => resolve()));
    await a.runtime.clock.sleep(40_000);
  };
  const leader = world.run(a, { work: slow });
  await world.pass(1_000);
  const other = world.run(world.machine("b", "10.0.0.3"));
  leader.stop();
  await world.pass(39_000);
  assert.deepEqual([leader.elector.status.leading, other.elector.status.leading], [false, false]);
  assert.equal(leader.outcome(), "runs");
  await world.pass(6_000);
  assert.deepEqual([leader.outcome(), other.elector.status.leading], ["stopped", true]);
});

test("the log says when a lease was given back, and nothing of it where none was held or it could not be", async () => {
  const world = await ElectionWorld.start();
  const givenBack = (): readonly string[] =>
    world.logged.filter(({ message }) => message === "lease given back").map(({ node }) => node);
  const leader = world.run(world.machine("a", "10.0.0.2"));
  await world.pass(1_000);
  const other = world.run(world.machine("b", "10.0.0.3"));
  await world.pass(1_000);
  other.stop();
  await world.simulation.complete(other.ended);
  assert.deepEqual(givenBack(), []);
  leader.stop();
  await world.simulation.complete(leader.ended);
  assert.deepEqual(givenBack(), ["a"]);
  const cutOff = world.run(world.machine("c", "10.0.0.4"));
  await world.pass(5_000);
  assert.equal(cutOff.elector.status.leading, true);
  world.simulation.partition("c", "server");
  cutOff.stop();
  await world.simulation.complete(cutOff.ended);
  assert.deepEqual(givenBack(), ["a"]);
  assert.equal(world.logged.at(-1)?.message, "lease not released");
});

test("work that goes on after the leadership is lost is overdue", async () => {
  const world = await ElectionWorld.start();
  const a = world.machine("a", "10.0.0.2");
  const leader = world.run(a, { work: () => new Promise(() => {}) });
  await world.pass(1_000);
  assert.equal(leader.elector.status.overdueMs, 0);
  world.simulation.partition("a", "server");
  await world.pass(40_000);
  assert.ok(leader.elector.status.overdueMs > 25_000);
  assert.equal(world.logged.filter(({ message }) => message === "leadership lost").length, 1);
});

test("work that was told to stop, and during which the lease is lost, is overdue as well", async () => {
  const world = await ElectionWorld.start();
  const a = world.machine("a", "10.0.0.2");
  const leader = world.run(a, { work: () => a.runtime.clock.sleep(60_000) });
  await world.pass(1_000);
  leader.stop();
  world.simulation.partition("a", "server");
  await world.pass(30_000);
  assert.ok(leader.elector.status.overdueMs > 15_000);
  await world.simulation.complete(leader.ended);
  assert.match(String(leader.outcome()), /LeadershipLost|not renewed within/);
});

test("who has lost may stand again", async () => {
  const world = await ElectionWorld.start();
  const leader = world.run(world.machine("a", "10.0.0.2"));
  await world.pass(1_000);
  world.simulation.partition("a", "server");
  await world.simulation.complete(leader.ended);
  world.simulation.heal();
  const terms: LeaderTerm[] = [];
  const stopping = new AbortController();
  const again = leader.elector.run(stopping.signal, async (term) => {
    terms.push(term);
  });
  await world.simulation.complete(again);
  assert.equal(terms.length, 1);
  assert.deepEqual([leader.elector.status.overdueMs, world.holder], [0, ""]);
});

test("work that ends by itself or fails releases the lease, and its error is the run's", async () => {
  const world = await ElectionWorld.start();
  const a = world.machine("a", "10.0.0.2");
  const done = world.run(a, { work: async () => {} });
  await world.simulation.complete(done.ended);
  assert.deepEqual([done.outcome(), world.holder], ["stopped", ""]);
  const failing = world.run(a, { work: async () => Promise.reject(new Error("no")) });
  await world.simulation.complete(failing.ended);
  assert.deepEqual([String(failing.outcome()), world.holder], ["Error: no", ""]);
  assert.deepEqual(
    failing.told.map(({ reason, message }) => [reason, message.replace(failing.elector.identity, "x")]),
    [
      ["LeaderElection", "x became leader"],
      ["LeaderElection", "x stopped leading"],
    ],
  );
});

test("a stop in the middle of the first write leaves no lease behind", async () => {
  const world = await ElectionWorld.start();
  const { truth, simulation } = world;
  let stop = (): void => {};
  world.instead = async (request) => {
    const answer = await truth.handler(request);
    // The server has done it, and nobody will read that.
    if (request.method === "POST") stop();
    return answer;
  };
  const runner = world.run(world.machine("a", "10.0.0.2"));
  stop = runner.stop;
  await simulation.complete(runner.ended);
  assert.deepEqual([runner.outcome(), runner.terms.length, world.holder], ["stopped", 0, ""]);
});

test("a leader whose lease is given to another ends at once", async () => {
  const world = await ElectionWorld.start();
  const leader = world.run(world.machine("a", "10.0.0.2"));
  await world.pass(1_000);
  const { lease } = world;
  assert.ok(lease !== undefined);
  world.truth.put({ ...lease, spec: { ...lease.spec, holderIdentity: "usurper" } });
  await world.pass(2_500);
  assert.match(String(leader.outcome()), /usurper holds it/);
  assert.equal(world.holder, "usurper");
});

test("a deleted lease is made again by its leader, and by nobody else who has seen it", async () => {
  const world = await ElectionWorld.start();
  const leader = world.run(world.machine("a", "10.0.0.2"));
  await world.pass(1_000);
  const other = world.run(world.machine("b", "10.0.0.3"));
  await world.pass(10_000);
  for (let time = 0; time < 5; time++) {
    world.truth.remove(leaseType, { namespace: "n", name: "role" });
    await world.pass(6_000);
  }
  assert.deepEqual([leader.elector.status.leading, other.elector.status.leading], [true, false]);
  assert.equal(world.holder, leader.elector.identity);
});

test("identities differ although names do not, and one elector runs once at a time", async () => {
  const world = await ElectionWorld.start();
  const a = world.machine("a", "10.0.0.2");
  const [one, two] = [world.run(a), world.run(a)];
  assert.notEqual(one.elector.identity, two.elector.identity);
  await assert.rejects(
    one.elector.run(new AbortController().signal, async () => {}),
    { code: "AlreadyRunning" },
  );
});

test("after a stop nothing is left: no timer, no exchange, no listener", async () => {
  const world = await ElectionWorld.start();
  const leader = world.run(world.machine("a", "10.0.0.2"));
  const waiting = world.run(world.machine("b", "10.0.0.3"));
  await world.pass(10_000);
  for (const { stop, ended, client } of [leader, waiting]) {
    stop();
    await world.simulation.complete(ended);
    await world.simulation.complete(client[Symbol.asyncDispose]());
  }
  await world.pass(200_000);
  assert.equal(world.simulation.pendingTimers, 0);
});

const badTimes: readonly { readonly times: Parameters<typeof electionTimes>[0]; readonly problem: RegExp }[] =
  [
    { times: { leaseDurationMs: 10_000 }, problem: /must be more than renewDeadlineMs/ },
    { times: { renewDeadlineMs: 2_400 }, problem: /more than 1\.2 times retryPeriodMs/ },
    { times: { leaseDurationMs: 15_500 }, problem: /whole seconds/ },
    { times: { retryPeriodMs: 0 }, problem: /must be more than 0/ },
    { times: { leaseDurationMs: Number.NaN }, problem: /whole seconds/ },
  ];

for (const { times, problem } of badTimes) {
  test(`an election with ${JSON.stringify(times)} is refused`, () => {
    assert.throws(() => electionTimes(times), { code: "InvalidElection", message: problem });
  });
}
