import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConfigMap } from "@meridian/kube";
import { KubeClient } from "../client/kube-client.ts";
import { configMaps, fleet } from "../testdata/fleet.ts";
import { json, scriptedWorld } from "../testdata/scripted-http.ts";
import type { BodyStep } from "../testdata/scripted-http.ts";
import { Informer } from "./informer.ts";

const never = (): AbortSignal => new AbortController().signal;

test("whoever has written waits until the copy has come to the write, however it comes there", async () => {
  const { truth, informer, start, pass, simulation } = await fleet();
  truth.put("a", { v: "1" });
  const reached: string[] = [];
  const wait = (what: string, version: number): void => {
    void informer.waitForVersion(String(version), { signal: never() }).then(() => reached.push(what));
  };
  wait("by the list", truth.version);
  start();
  await pass(1000);
  assert.deepEqual(reached, ["by the list"]);
  assert.ok(informer.hasReached(String(truth.version)) && !informer.hasReached(String(truth.version + 1)));

  simulation.partition("client", "server");
  truth.put("a", { v: "2" });
  wait("by an event", truth.version);
  await pass(1000);
  assert.deepEqual(reached.length, 1);
  assert.equal(informer.lister.get("n/a")?.data?.["v"], "1");
  simulation.heal();
  await pass(60_000);
  assert.deepEqual(reached, ["by the list", "by an event"]);
  assert.equal(informer.lister.get("n/a")?.data?.["v"], "2");

  truth.tick();
  wait("by a bookmark", truth.version);
  await pass(1000);
  assert.equal(reached.length, 2);
  truth.bookmark();
  await pass(1000);
  wait("at once", truth.version);
  await pass(1);
  assert.deepEqual(reached.slice(2), ["by a bookmark", "at once"]);
});

test("waiting ends with its signal and leaves nothing behind", async () => {
  const { informer, start, pass, truth, simulation } = await fleet();
  start();
  await pass(1000);
  const stopping = new AbortController();
  const waiting = informer.waitForVersion("99999999", { signal: stopping.signal });
  const gone = new Error("given up");
  const rejected = assert.rejects(waiting, gone);
  stopping.abort(gone);
  await simulation.complete(rejected);
  await assert.rejects(informer.waitForVersion("1", { signal: stopping.signal }), gone);
  for (const none of ["", undefined])
    await assert.rejects(informer.waitForVersion(none, { signal: never() }), { code: "NoVersion" });
  truth.put("a", { v: "1" });
  await pass(1000);
});

test("several namespaces are one copy, as far as the last of them, and complete when all are", async () => {
  const objects = (namespace: string, version: string): object => ({
    metadata: { name: "o", namespace, uid: namespace, resourceVersion: version },
  });
  const event = (namespace: string, version: string): BodyStep => ({
    send: { type: "MODIFIED", object: { kind: "ConfigMap", ...objects(namespace, version) } },
  });
  const { simulation, runtime, requests } = scriptedWorld(({ target }) => {
    const namespace = target.includes("/namespaces/a/") ? "a" : "b";
    if (target.includes("watch=1")) {
      return namespace === "a"
        ? { steps: [event("a", "6"), { waitMs: 5000 }, event("a", "20")], open: true }
        : { steps: [event("b", "9")], open: true };
    }
    const list = { metadata: { resourceVersion: "5" }, items: [objects(namespace, "4")] };
    return { ...json(list), delayMs: namespace === "a" ? 0 : 2000 };
  });
  const informer = new Informer<ConfigMap>(runtime, {
    client: new KubeClient(runtime, { origin: "https://h" }),
    type: configMaps,
    namespaces: ["a", "b"],
  });
  const told: string[] = [];
  informer.addHandler({
    onKey: ({ key, event, initial }) =>
      void told.push(`${event} ${key} ${informer.lister.get(key)?.metadata.resourceVersion} ${initial}`),
  });
  const pass = (ms: number): Promise<void> => simulation.run({ untilMs: simulation.nowMs + ms });
  void informer.run(never());
  await pass(1000);
  assert.deepEqual(
    [informer.hasSynced, informer.version, informer.connected, told.length],
    [false, "", false, 0],
  );
  assert.equal(informer.lagMs(), Infinity);
  await pass(2000);
  assert.deepEqual(told, ["add a/o 6 true", "add b/o 4 true", "update b/o 9 false"]);
  assert.deepEqual([informer.hasSynced, informer.version, informer.connected], [true, "6", true]);
  assert.ok(!informer.hasReached("9"));
  await pass(4000);
  assert.equal(informer.version, "9");
  assert.deepEqual(
    informer.lister.list("a").map(({ metadata }) => metadata.resourceVersion),
    ["20"],
  );
  assert.equal(requests.length, 4);
  assert.deepEqual([informer.status.events, informer.status.watches, informer.resyncs], [3, 2, 0]);
});
