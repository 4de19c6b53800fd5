import assert from "node:assert/strict";
import { test } from "node:test";
import { configMapType } from "@meridian/kube";
import type { ConfigMap } from "@meridian/kube";
import { KubeClient } from "../client/kube-client.ts";
import { json, scriptedWorld } from "../testdata/scripted-http.ts";
import type { BodyStep, ScriptedAnswer, ScriptedWorld } from "../testdata/scripted-http.ts";
import { waitFor } from "./wait-for.ts";

const ref = { namespace: "n", name: "a" };
const object = (version: string, phase: string): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { ...ref, uid: "u", resourceVersion: version },
  data: { phase },
});
const isDone = (found: ConfigMap | undefined): boolean => found?.data?.["phase"] === "done";
const notFound = json({ kind: "Status", code: 404, reason: "NotFound" }, 404);
const list = (version: string, ...items: ConfigMap[]): ScriptedAnswer =>
  json({ kind: "ConfigMapList", apiVersion: "v1", metadata: { resourceVersion: version }, items });

/** A server whose object is `first` when read, `listed` a little later, and then changes as the watches say. */
function world(answers: {
  readonly first: ScriptedAnswer;
  readonly listed?: ScriptedAnswer;
  readonly watches?: readonly (readonly BodyStep[])[];
}): ScriptedWorld & { wait: (until?: typeof isDone) => Promise<ConfigMap | undefined> } {
  let watches = 0;
  const scripted = scriptedWorld(({ target }) => {
    if (!target.includes("?")) return answers.first;
    if (!target.includes("watch=")) return answers.listed ?? list("1");
    const steps = answers.watches?.[watches++];
    return { steps: steps ?? [], open: steps === undefined || watches === answers.watches?.length };
  });
  const client = new KubeClient(scripted.runtime, { origin: "https://h" });
  const wait = (until = isDone): Promise<ConfigMap | undefined> =>
    scripted.simulation.complete(
      waitFor<ConfigMap>(scripted.runtime, client, { ...ref, type: configMapType, until }),
    );
  return { ...scripted, wait };
}

/** Nothing of a waiting that is over is left: no watch, no timer. */
async function assertClean({ simulation, openBodies }: ScriptedWorld): Promise<void> {
  await simulation.run({ untilMs: simulation.nowMs + 1 });
  assert.deepEqual([openBodies(), simulation.pendingTimers], [0, 0]);
}

test("what is so already costs one request", async () => {
  const made = world({ first: json(object("1", "done")) });
  assert.equal((await made.wait())?.metadata.resourceVersion, "1");
  assert.equal(made.requests.length, 1);
  await assertClean(made);
});

test("a change is waited for by one watch of one object, and nothing is left of it", async () => {
  const made = world({
    first: json(object("1", "new")),
    listed: list("1", object("1", "new")),
    watches: [[{ waitMs: 5_000 }, { send: { type: "MODIFIED", object: object("2", "done") } }]],
  });
  assert.equal((await made.wait())?.metadata.resourceVersion, "2");
  assert.equal(made.simulation.nowMs, 5_000);
  assert.equal(made.queries("configmaps?")[0]?.["fieldSelector"], "metadata.name=a");
  await assertClean(made);
});

test("what changed between the reading and the list is seen", async () => {
  const made = world({ first: json(object("1", "new")), listed: list("2", object("2", "done")) });
  assert.equal((await made.wait())?.metadata.resourceVersion, "2");
  await assertClean(made);
});

test("an object that was gone before the first list is absent (kube-rs/kube#1577)", async () => {
  const made = world({ first: json(object("1", "new")), listed: list("2") });
  assert.equal(await made.wait((found) => found === undefined), undefined);
  await assertClean(made);
});

test("an object that is not there yet is waited for, over a watch that ends", async () => {
  const made = world({
    first: notFound,
    watches: [
      [{ waitMs: 2_000 }],
      [{ waitMs: 2_000 }, { send: { type: "ADDED", object: object("5", "done") } }],
    ],
  });
  assert.equal((await made.wait())?.metadata.resourceVersion, "5");
  await assertClean(made);
});

test("a deadline ends the waiting, and all that belongs to it", async () => {
  const made = world({ first: notFound });
  await assert.rejects(made.wait(), {
    code: "DeadlineExceeded",
    message: "configmaps n/a did not come to be as wanted within 60000 ms",
  });
  assert.equal(made.simulation.nowMs, 60_000);
  await assertClean(made);
});

test("a condition that throws ends the waiting with what it threw", async () => {
  const reason = new Error("cannot judge");
  const made = world({ first: notFound, listed: list("1", object("1", "new")) });
  const until = (found: ConfigMap | undefined): boolean => {
    if (found === undefined) return false;
    throw reason;
  };
  await assert.rejects(made.wait(until), reason);
  await assertClean(made);
});
