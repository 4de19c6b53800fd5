import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConfigMap } from "@meridian/kube";
import { NetworkError } from "@meridian/runtime";
import { fleet } from "../testdata/fleet.ts";
import { json } from "../testdata/scripted-http.ts";
import { eventOf, failureStatus, listOf, scriptedInformer, watchOf } from "../testdata/scripted-informer.ts";

/** What users of kubernetes-fluent-client (`kfc#`) and Pepr (`pepr#`) met. */

test("pepr#745: a watch that reacts to nothing is replaced from within, without lists for the sake of liveness", async () => {
  const { asked, pass, informer, told } = scriptedInformer([
    listOf("5", ["a@5"]),
    { open: true },
    watchOf(eventOf("MODIFIED", "a@6")),
  ]);
  await pass(90 * 60_000);
  assert.ok(
    !asked()
      .slice(1)
      .some((request) => request.startsWith("list")),
  );
  assert.deepEqual(told, ["add a@5 initial", "update a@5 a@6"]);
  assert.ok(informer.connected);
});

test("pepr#283: one change is told once, also if its event comes again, on this stream and on the next", async () => {
  const { told, pass } = scriptedInformer([
    listOf("5", ["a@5"]),
    watchOf(eventOf("MODIFIED", "a@6"), eventOf("MODIFIED", "a@6")),
    watchOf(eventOf("MODIFIED", "a@6"), eventOf("MODIFIED", "a@7")),
  ]);
  await pass(100_000);
  assert.deepEqual(told, ["add a@5 initial", "update a@5 a@6", "update a@6 a@7"]);
});

test("kfc#979, kfc#987: Retry-After is waited for, the place in the history is kept, and no event is lost", async () => {
  const busy = json(failureStatus(429, "TooManyRequests"), 429, { "retry-after": "20" });
  const { asked, told, pass } = scriptedInformer([
    listOf("5", ["a@5"]),
    busy,
    busy,
    watchOf(eventOf("MODIFIED", "a@6")),
  ]);
  await pass(19_900);
  assert.equal(asked().length, 2);
  await pass(20_000);
  assert.equal(asked().length, 3);
  await pass(60_000);
  assert.deepEqual(asked().slice(0, 4), ["list 0", "watch 5", "watch 5", "watch 5"]);
  assert.deepEqual(told, ["add a@5 initial", "update a@5 a@6"]);
});

test("kfc#1043, kfc#1000: failures of any kind in a row are each followed by another attempt", async () => {
  const { asked, pass, informer, copy } = scriptedInformer([
    listOf("5", ["a@5"]),
    { steps: [{ waitMs: 5_000 }, { fail: new NetworkError("Broken", "reset") }] },
    new NetworkError("Unreachable", "no route to host"),
    new NetworkError("Timeout", "the TLS handshake took too long"),
    new Error("fetch failed"),
    json("<html>", 502),
    { steps: [{ send: "no json" }] },
    listOf("8", ["a@5", "b@7"]),
  ]);
  await pass(300_000);
  assert.ok(informer.connected);
  assert.deepEqual(copy(), ["a@5", "b@7"]);
  assert.ok(asked().length >= 8);
});

test("kfc#1105: an object whose delivery failed is told again until it is taken, and others do not wait for it", async () => {
  const { truth, informer, start, pass } = await fleet();
  for (const name of ["bad", "good"]) truth.put(name, { v: "1" });
  const told: string[] = [];
  let healed = false;
  const registration = informer.addHandler({
    onAdd({ metadata, data }) {
      told.push(`add ${metadata.name}=${data?.["v"]}`);
      if (metadata.name === "bad" && !healed) throw new Error("not today");
    },
    onUpdate: (old, { metadata, data }) =>
      void told.push(`update ${metadata.name} ${old.data?.["v"]} ${data?.["v"]}`),
  });
  start();
  await pass(500);
  assert.ok(registration.hasSynced, "one object that fails does not hold up the start");
  assert.deepEqual(told.splice(0), ["add bad=1", "add good=1"]);
  truth.put("bad", { v: "2" });
  truth.put("good", { v: "2" });
  truth.endWatches();
  truth.tick();
  truth.compact();
  await pass(7_000);
  const calls = told.splice(0);
  assert.ok(calls.includes("update good 1 2"));
  // After 1, 2 and 4 s, with the newest state, and still as an addition: the handler has never taken it.
  assert.deepEqual(
    calls.filter((call) => call.includes("bad")),
    ["add bad=2", "add bad=2", "add bad=2"],
  );
  assert.equal(registration.pending, 1);
  healed = true;
  await pass(60_000);
  assert.deepEqual(told, ["add bad=2"]);
  assert.equal(registration.pending, 0);
  assert.equal(informer.status.handlerErrors, 4);
  truth.put("bad", { v: "3" });
  await pass(1000);
  assert.deepEqual(told.slice(1), ["update bad 2 3"]);
});

test("kfc#1105: a list is never begun while another is under way", async () => {
  const slow = { ...listOf("5", ["a@5"]), delayMs: 20_000 };
  const { asked, pass } = scriptedInformer([slow, { open: true }], { resyncMs: 1_000 });
  await pass(19_000);
  assert.deepEqual(asked(), ["list 0"]);
  await pass(60_000);
  assert.deepEqual(asked(), ["list 0", "watch 5"]);
});

test("kfc#424: many reconnects leave one open stream and no memory of those before", async () => {
  const { pass, openBodies, informer } = scriptedInformer([
    listOf("5", ["a@5"]),
    ...Array.from({ length: 500 }, (_, at) => ({
      steps: [eventOf("MODIFIED", `a@${6 + at}`), { waitMs: 1500 }],
    })),
  ]);
  await pass(740_000);
  assert.ok(informer.status.watches > 400);
  assert.equal(openBodies(), 1);
  assert.ok(informer.status.bytes <= 16 * 1024, String(informer.status.bytes));
});

test("kfc#440: a failure is followed by one request, never by two at a time", async () => {
  const breaks = (at: number): object => ({
    steps: [
      eventOf("MODIFIED", `a@${6 + at}`),
      { waitMs: 2_000 },
      { fail: new NetworkError("Broken", "reset") },
    ],
  });
  const { asked, pass, openBodies } = scriptedInformer([
    listOf("5", ["a@5"]),
    ...[0, 1, 2, 3, 4].map(breaks),
  ]);
  for (let second = 0; second < 60; second++) {
    await pass(1_000);
    assert.ok(openBodies() <= 1);
  }
  assert.deepEqual(asked(), ["list 0", ...[5, 6, 7, 8, 9, 10].map((version) => `watch ${version}`)]);
});

test("kfc#258: what was deleted in a gap is told, and what was created again is another object", async () => {
  const { told, pass, copy } = scriptedInformer([
    listOf("5", ["a@1", "b@2#one", "c@3"]),
    { status: 410, steps: [{ send: failureStatus(410, "Expired") }] },
    listOf("9", ["b@8#two", "c@3"]),
  ]);
  await pass(10_000);
  assert.deepEqual(told.slice(3), ["delete a@1 missed", "delete b@2 missed", "add b@8"]);
  assert.deepEqual(copy(), ["b@8", "c@3"]);
});

test("pepr#1119: handlers of one collection never mix, and the calls of each about one object never overlap", async () => {
  const { truth, informer, start, pass, runtime } = await fleet();
  const calls: Record<string, string[]> = { first: [], second: [] };
  const running = new Set<string>();
  for (const name of ["first", "second"]) {
    const told = async (object: ConfigMap): Promise<void> => {
      const call = `${name} ${object.metadata.name}`;
      assert.ok(!running.has(call), `${call} overlaps`);
      running.add(call);
      await runtime.clock.sleep(name === "first" ? 700 : 10, new AbortController().signal);
      running.delete(call);
      calls[name]?.push(`${object.metadata.name}=${object.data?.["v"]}`);
    };
    informer.addHandler({ onAdd: told, onUpdate: (_, object) => told(object) });
  }
  start();
  await pass(100);
  for (let v = 1; v <= 5; v++) {
    for (const name of ["a", "b"]) truth.put(name, { v: String(v) });
    await pass(100);
  }
  await pass(30_000);
  assert.deepEqual(
    calls["second"],
    [1, 2, 3, 4, 5].flatMap((v) => [`a=${v}`, `b=${v}`]),
  );
  assert.deepEqual(calls["first"]?.slice(-2).sort(), ["a=5", "b=5"]);
  assert.equal(informer.status.handlerErrors, 0);
});
