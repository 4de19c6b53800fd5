import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConfigMap } from "@meridian/kube";
import { NetworkError } from "@meridian/runtime";
import type { ApiError } from "../client/api-error.ts";
import { ContainerScanner } from "../client/container-scanner.ts";
import { documentStart } from "../client/json-stream.ts";
import { KubeClient } from "../client/kube-client.ts";
import { Informer } from "../informer/informer.ts";
import { configMaps, fleet } from "../testdata/fleet.ts";
import { json, scriptedWorld } from "../testdata/scripted-http.ts";
import {
  bookmarkOf,
  eventOf,
  failureStatus,
  listOf,
  scriptedInformer,
  watchOf,
} from "../testdata/scripted-informer.ts";

/** What users of the official JavaScript client met (`js#` is an issue of kubernetes-client/javascript). */

test("js#596: a connection on which nothing comes through is noticed within 30 s, and every change is told once", async () => {
  const { truth, informer, start, pass, simulation } = await fleet();
  truth.put("a", { v: "1" });
  const told: string[] = [];
  informer.addHandler({
    onAdd: ({ metadata, data }) => void told.push(`add ${metadata.name}=${data?.["v"]}`),
    onUpdate: (_, { metadata, data }) => void told.push(`update ${metadata.name}=${data?.["v"]}`),
    onDelete: ({ metadata }) => void told.push(`delete ${metadata.name}`),
  });
  start();
  await pass(60_000);
  assert.ok(informer.connected);
  simulation.partition("client", "server");
  const cutAtMs = simulation.nowMs;
  truth.put("a", { v: "2" });
  truth.put("b", { v: "1" });
  truth.remove("a");
  await simulation.run({ until: () => !informer.connected, untilMs: cutAtMs + 60_000 });
  assert.ok(simulation.nowMs - cutAtMs <= 30_000, `noticed after ${simulation.nowMs - cutAtMs} ms`);
  assert.ok(informer.lagMs() >= simulation.nowMs - cutAtMs, "the lag grows while the copy is cut off");
  simulation.heal();
  await pass(60_000);
  assert.deepEqual(told, ["add a=1", "update a=2", "add b=1", "delete a"]);
  assert.equal(informer.resyncs, 0);
});

test("js#596: a quiet watch whose connection is sound is not opened again for the sake of liveness", async () => {
  const { truth, informer, start, pass } = await fleet();
  start();
  await pass(290_000);
  assert.equal(truth.watchesOpened, 1);
  assert.ok(informer.connected);
});

test("js#958: a watch that ends after its time is opened again from the last version, without a list", async () => {
  const { asked, told, pass } = scriptedInformer([
    listOf("5", ["a@4"]),
    watchOf(eventOf("MODIFIED", "a@7")),
    watchOf(eventOf("MODIFIED", "a@8")),
  ]);
  await pass(130_000);
  assert.deepEqual(asked(), ["list 0", "watch 5", "watch 7", "watch 8"]);
  assert.deepEqual(told, ["add a@4 initial", "update a@4 a@7", "update a@7 a@8"]);
});

test("js#1496: a connection that is reset in the middle of a stream is an incident, not the end", async () => {
  const reset = new NetworkError("Broken", "connection reset by peer");
  const { asked, told, pass, informer } = scriptedInformer([
    listOf("5", []),
    { steps: [eventOf("ADDED", "a@6"), { waitMs: 5_000 }, { fail: reset }] },
    watchOf(eventOf("ADDED", "b@7")),
  ]);
  await pass(30_000);
  assert.deepEqual(asked(), ["list 0", "watch 5", "watch 6"]);
  assert.deepEqual(told, ["add a@6", "add b@7"]);
  assert.match(informer.status.lastFailure?.message ?? "", /connection reset by peer/);
  assert.ok(informer.connected);
});

test("js#3020: no timer of a whole request ends a watch whose events flow", async () => {
  const steps = Array.from({ length: 200 }, (_, at) => [
    eventOf("MODIFIED", `a@${6 + at}`),
    { waitMs: 1000 },
  ]).flat();
  const { asked, pass, informer } = scriptedInformer([listOf("5", ["a@5"]), { steps, open: true }]);
  await pass(195_000);
  assert.deepEqual(asked(), ["list 0", "watch 5"]);
  assert.ok(informer.status.events >= 195);
});

test("js#2665: a server that accepts and never answers is given up after the deadline, and asked again", async () => {
  const silence = { delayMs: 10 ** 9 };
  const { asked, pass, copy } = scriptedInformer([silence, listOf("5", ["a@5"]), silence, watchOf()]);
  await pass(29_000);
  assert.equal(asked().length, 1);
  await pass(70_000);
  assert.deepEqual(asked(), ["list 0", "list 0", "watch 5", "watch 5"]);
  assert.deepEqual(copy(), ["a@5"]);
});

test("js#2367: each watch has a time limit on both sides", async () => {
  const { queries, pass, informer, asked } = scriptedInformer([listOf("5", []), { open: true }]);
  await pass(1000);
  const seconds = Number(queries("watch=1")[0]?.["timeoutSeconds"]);
  assert.ok(seconds >= 300 && seconds <= 600, String(seconds));
  // The server keeps the stream open beyond the time that it was given: the client does not.
  await pass((seconds + 20) * 1000);
  assert.deepEqual(asked(), ["list 0", "watch 5", "watch 5"]);
  assert.ok(informer.connected);
});

test("js#2424: bookmarks keep a quiet copy young, and a list of what is known tells nobody", async () => {
  const { asked, told, pass } = scriptedInformer([
    listOf("5", ["a@4"]),
    watchOf(bookmarkOf("900")),
    { status: 410, steps: [{ send: failureStatus(410, "Expired") }] },
    listOf("1000", ["a@4"]),
  ]);
  await pass(120_000);
  assert.deepEqual(asked(), ["list 0", "watch 5", "watch 900", "list 900", "watch 1000"]);
  assert.deepEqual(told, ["add a@4 initial"]);
});

test("js#288: a stream leaves nothing behind of the objects that went through it", () => {
  const scanner = new ContainerScanner({
    containerBytesMax: 2 ** 24,
    between: documentStart,
    onContainer: () => {},
  });
  const small = 128 * 1024;
  scanner.push(Buffer.from(`{"type":"ADDED","object":{"data":"${"x".repeat(2 ** 21)}"}}`));
  for (let at = 0; at < 10_000; at++) scanner.push(Buffer.from('{"type":"ADDED","object":{}}\n'));
  assert.ok(scanner.octets.length <= small, String(scanner.octets.length));
});

test("js#2893: all watches of a client go through one HTTP client, however often they are opened again", async () => {
  const { clientOptions, pass, requests, openBodies } = scriptedInformer([
    listOf("5", []),
    ...Array.from({ length: 1000 }, () => ({ steps: [{ waitMs: 2000 }] })),
  ]);
  await pass(2_100_000);
  assert.ok(requests.length > 1000);
  assert.equal(clientOptions.length, 1);
  assert.ok(openBodies() <= 1);
});

test("js#680: an API that is gone for an hour rejects nothing that nobody handles, and is found again", async () => {
  const refused = new NetworkError("Refused", "connection refused");
  const heard: unknown[] = [];
  const { pass, copy, informer } = scriptedInformer(
    [...Array.from({ length: 100 }, () => refused), listOf("5", ["a@5"])],
    { onFailure: (error) => void heard.push(error) },
  );
  await pass(3_600_000);
  assert.ok(heard.slice(0, 100).every((error) => (error as ApiError).reason === "Unreachable"));
  assert.deepEqual([copy(), informer.connected], [["a@5"], true]);
});

test("js#2389: a watch that breaks right after its headers ends once, and is followed by one request", async () => {
  const { asked, pass, informer } = scriptedInformer([
    listOf("5", []),
    { steps: [{ fail: new NetworkError("Broken", "premature close") }] },
    listOf("5", []),
  ]);
  await pass(60_000);
  assert.equal(informer.status.failures, 1);
  assert.deepEqual(asked(), ["list 0", "watch 5", "list 5", "watch 5"]);
});

for (const [name, status] of Object.entries({
  "js a88bb13c: an ERROR event with code 410": failureStatus(410, ""),
  "js R21: an ERROR event with reason Expired and no code": failureStatus(0, "Expired"),
  "js R21: an ERROR event with reason Gone": failureStatus(0, "Gone"),
})) {
  test(`${name} ends the watch at once and leads to a list, though the stream stays open`, async () => {
    const { asked, pass, copy, told } = scriptedInformer([
      listOf("5", ["a@5"]),
      { steps: [{ waitMs: 5_000 }, { send: { type: "ERROR", object: status } }], open: true },
      listOf("9", ["a@5", "b@8"]),
    ]);
    await pass(6_000);
    assert.deepEqual(asked(), ["list 0", "watch 5", "list 5", "watch 9"]);
    assert.deepEqual(copy(), ["a@5", "b@8"]);
    assert.deepEqual(told, ["add a@5 initial", "add b@8"]);
  });
}

for (const code of [401, 403, 429, 500, 503]) {
  test(`js R22: a watch that is answered with ${code} is not the last, and its user hears of it`, async () => {
    const heard: string[] = [];
    const refusal = json(failureStatus(code, "SomeReason"), code);
    const { pass, informer, copy } = scriptedInformer(
      [listOf("5", ["a@5"]), refusal, ...(code === 429 ? [] : [listOf("6", ["a@5"])]), { open: true }],
      { onFailure: (error) => void heard.push((error as Error).message) },
    );
    await pass(60_000);
    assert.ok(informer.connected);
    assert.deepEqual(copy(), ["a@5"]);
    assert.match(heard.join(), new RegExp(`^cannot watch configmaps.*${code}`));
  });
}

test("js R22: the user's hook may end the run", async () => {
  const world = scriptedWorld(() => json(failureStatus(403, "Forbidden"), 403));
  const informer = new Informer<ConfigMap>(world.runtime, {
    client: new KubeClient(world.runtime, { origin: "https://h" }),
    type: configMaps,
    onFailure: () => "stop",
  });
  const ended = assert.rejects(informer.run(new AbortController().signal), { reason: "Forbidden" });
  await world.simulation.complete(ended);
});

test("js R26: an object that was deleted and created again in a gap is two objects, not one that changed", async () => {
  const { told, pass } = scriptedInformer([
    listOf("5", ["a@5#first"]),
    { status: 410, steps: [{ send: failureStatus(410, "Expired") }] },
    listOf("9", ["a@8#second"]),
  ]);
  await pass(10_000);
  assert.deepEqual(told, ["add a@5 initial", "delete a@5 missed", "add a@8"]);
});

test("js R27: a deletion that only a list shows is told with the last state known, and says so", async () => {
  const { told, pass } = scriptedInformer([
    listOf("5", ["a@5"]),
    { status: 410, steps: [{ send: failureStatus(410, "Expired") }] },
    listOf("9", []),
  ]);
  await pass(10_000);
  assert.deepEqual(told, ["add a@5 initial", "delete a@5 missed"]);
});

test("js R28: the end of an object that nobody was told of is told to nobody, and keys of two namespaces never meet", async () => {
  const other = {
    kind: "ConfigMap",
    metadata: { name: "a", namespace: "m", uid: "m", resourceVersion: "7" },
  };
  const { told, pass, informer } = scriptedInformer([
    listOf("5", ["a@5"]),
    {
      steps: [eventOf("DELETED", "unknown@6"), { send: { type: "ADDED", object: other } }],
      open: true,
    },
  ]);
  await pass(1_000);
  assert.deepEqual(told, ["add a@5 initial", "add a@7"]);
  assert.deepEqual([...informer.lister.keys()], ["n/a", "m/a"]);
  assert.equal(informer.version, "7");
});
