import assert from "node:assert/strict";
import { test } from "node:test";
import { configMapType } from "@meridian/kube";
import { NetworkError } from "@meridian/runtime";
import { json, scriptedWorld } from "../testdata/scripted-http.ts";
import type { Script, ScriptedWorld } from "../testdata/scripted-http.ts";
import type { KubeClientOptions } from "./client-options.ts";
import { KubeClient } from "./kube-client.ts";

const web = { namespace: "default", name: "web" };

function client(
  script: Script,
  options: Partial<KubeClientOptions> = {},
): ScriptedWorld & { client: KubeClient } {
  const world = scriptedWorld(script);
  return { ...world, client: new KubeClient(world.runtime, { origin: "https://10.0.0.2:6443", ...options }) };
}

const event = (type: string, version: string): object => ({
  type,
  object: { apiVersion: "v1", kind: "ConfigMap", metadata: { ...web, resourceVersion: version } },
});

test("a watch flows beyond the deadline of requests and ends when the server ends it", async () => {
  const steps = [
    { send: event("ADDED", "1") },
    { waitMs: 100_000 },
    { send: event("NEWTYPE", "2") },
    { send: event("MODIFIED", "3") },
  ];
  const { client: kube, simulation, queries, openBodies } = client(() => ({ steps }), { deadlineMs: 1000 });
  const seen: string[] = [];
  const reading = async (): Promise<void> => {
    const stream = await kube.watch(configMapType, { resourceVersion: "1", timeoutSeconds: 400 });
    for await (const { type } of stream) seen.push(type);
  };
  await simulation.complete(reading());
  assert.deepEqual(seen, ["ADDED", "MODIFIED"]);
  assert.deepEqual(queries("configmaps"), [
    { watch: "1", resourceVersion: "1", allowWatchBookmarks: "true", timeoutSeconds: "400" },
  ]);
  assert.deepEqual([openBodies(), simulation.pendingTimers], [0, 0]);
});

test("a watch that its server forgets is ended here, a little after its time", async () => {
  const { client: kube, simulation } = client(() => ({ open: true }));
  const reading = async (): Promise<void> => {
    for await (const _ of await kube.watch(configMapType, { timeoutSeconds: 300 }));
  };
  await assert.rejects(simulation.complete(reading()), { reason: "DeadlineExceeded" });
  assert.equal(simulation.nowMs, 310_000);
});

test("leaving or closing a watch ends its exchange", async () => {
  for (const leave of ["break", "close"]) {
    const {
      client: kube,
      simulation,
      openBodies,
    } = client(() => ({ steps: [{ send: event("ADDED", "1") }], open: true }));
    const reading = async (): Promise<void> => {
      const stream = await kube.watch(configMapType);
      for await (const _ of stream) {
        if (leave === "break") break;
        stream.close();
      }
    };
    await simulation.complete(reading());
    await simulation.run({ untilMs: 1 });
    assert.deepEqual([openBodies(), simulation.pendingTimers], [0, 0], leave);
  }
});

test("a watch without headers meets the deadline, and one that is refused throws its Status", async () => {
  const slow = client(() => ({ delayMs: 10 ** 9 }));
  await assert.rejects(slow.simulation.complete(slow.client.watch(configMapType)), {
    reason: "DeadlineExceeded",
  });
  assert.equal(slow.simulation.nowMs, 30_000);
  const gone = client(() => json({ kind: "Status", reason: "Expired", code: 410 }, 410));
  await assert.rejects(gone.client.watch(configMapType), { code: 410, reason: "Expired" });
  assert.equal(gone.simulation.pendingTimers, 0);
});

test("a broken watch says so after the events that came", async () => {
  const { client: kube } = client(() => ({
    steps: [{ send: event("ADDED", "1") }, { fail: new NetworkError("Broken", "reset by peer") }],
  }));
  const seen: string[] = [];
  const reading = async (): Promise<void> => {
    for await (const { type } of await kube.watch(configMapType)) seen.push(type);
  };
  await assert.rejects(reading(), {
    reason: "TruncatedResponse",
    message: "cannot watch configmaps: reset by peer (TruncatedResponse)",
  });
  assert.deepEqual(seen, ["ADDED"]);
});
