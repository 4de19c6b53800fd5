import assert from "node:assert/strict";
import { test } from "node:test";
import { Controller } from "../controller/controller.ts";
import { enqueueKeys } from "../informer/informer-handler.ts";
import { fleet } from "../testdata/fleet.ts";
import { json } from "../testdata/scripted-http.ts";
import {
  bookmarkOf,
  eventOf,
  failureStatus,
  listOf,
  scriptedInformer,
  watchOf,
} from "../testdata/scripted-informer.ts";

/** What users of kube-rs (`kube-rs#`) and of what is built on its ideas met. */

for (const selection of [{}, { labelSelector: "app=x", fieldSelector: "metadata.name!=y" }]) {
  test(`kube-rs#1524: pages are followed to the last, with ${JSON.stringify(selection)}`, async () => {
    const { asked, pass, copy, queries } = scriptedInformer(
      [listOf("5", ["a@1"], "2"), listOf("5", ["b@2"], "3"), listOf("5", ["c@3"])],
      { pageSize: 1, ...selection },
    );
    await pass(1_000);
    assert.deepEqual(asked(), ["list 0", "list next page", "list next page", "watch 5"]);
    assert.deepEqual(copy(), ["a@1", "b@2", "c@3"]);
    for (const query of queries("configmaps")) {
      assert.deepEqual(
        [query["labelSelector"], query["fieldSelector"]],
        [selection.labelSelector, selection.fieldSelector],
      );
    }
  });
}

test("kube-rs#1042: a version that cannot be watched leads to a list, as an HTTP status and as an event alike", async () => {
  const status = failureStatus(410, "Expired");
  for (const refusal of [
    json(status, 410),
    { steps: [{ send: { type: "ERROR", object: status } }], open: true },
  ]) {
    const { asked, pass } = scriptedInformer([listOf("5", []), refusal, listOf("9", ["a@8"])]);
    await pass(5_000);
    assert.deepEqual(asked(), ["list 0", "watch 5", "list 5", "watch 9"]);
  }
});

test("kube-rs#1577: following one object that is not there is complete, and shows that it is absent", async () => {
  const { pass, informer, queries } = scriptedInformer([listOf("5", []), watchOf(eventOf("ADDED", "a@6"))], {
    namespace: "n",
    fieldSelector: "metadata.name=a",
  });
  let synced = false;
  void informer.synced.then(() => (synced = true));
  await pass(0);
  await pass(1);
  assert.ok(synced && informer.hasSynced);
  assert.equal(queries("configmaps")[0]?.["fieldSelector"], "metadata.name=a");
  await pass(1_000);
  assert.ok(informer.lister.has("n/a"));
});

test("kube-rs#1844, kube-rs#1882: a state that comes as a stream is told as one that comes as a list, again and again", async () => {
  const expired = { status: 410, steps: [{ send: failureStatus(410, "Expired") }] };
  const changes = [eventOf("MODIFIED", "a@6"), { waitMs: 5_000 }];
  const listed = scriptedInformer([
    listOf("5", ["a@4", "b@5"]),
    { steps: changes },
    expired,
    listOf("9", ["a@6", "c@8"]),
  ]);
  const streamed = scriptedInformer(
    [
      { steps: [eventOf("ADDED", "a@4"), eventOf("ADDED", "b@5"), bookmarkOf("5", true), ...changes] },
      expired,
      { steps: [eventOf("ADDED", "a@6"), eventOf("ADDED", "c@8"), bookmarkOf("9", true)], open: true },
    ],
    { watchList: true },
  );
  for (const { pass } of [listed, streamed]) await pass(20_000);
  assert.deepEqual(listed.told, [
    "add a@4 initial",
    "add b@5 initial",
    "update a@4 a@6",
    "delete b@5 missed",
    "add c@8",
  ]);
  assert.deepEqual(streamed.told, listed.told);
  assert.deepEqual(
    [streamed.informer.version, streamed.informer.resyncs],
    [listed.informer.version, listed.informer.resyncs],
  );
  assert.ok(streamed.asked().every((request) => request.startsWith("watch")));
});

test("kube-rs#1193: a list whose items are null is empty, and a list without items is none", async () => {
  const { pass, informer, copy } = scriptedInformer([
    json({ metadata: { resourceVersion: "5" } }),
    json({ metadata: { resourceVersion: "6" }, items: null }),
  ]);
  await pass(500);
  assert.ok(!informer.hasSynced);
  await pass(5_000);
  assert.deepEqual([informer.hasSynced, copy(), informer.version], [true, [], "6"]);
});

test("kube-rs#1316: whatever changes in a storm, the last state of each object is reconciled", async () => {
  const { truth, informer, start, pass, runtime, simulation } = await fleet();
  const reconciled = new Map<string, string | undefined>();
  const controller = new Controller(runtime, {
    name: "storm",
    concurrency: 3,
    async reconcile(key, signal) {
      await runtime.clock.sleep(30, signal);
      reconciled.set(key, informer.lister.get(key)?.metadata.resourceVersion);
    },
  });
  informer.addHandler(enqueueKeys(controller));
  const stopping = new AbortController();
  start();
  const running = controller.run(stopping.signal);
  const names = ["a", "b", "c", "d", "e"];
  for (let step = 0; step < 300; step++) {
    const name = names[step % names.length] as string;
    if (step % 7 === 3) truth.remove(name);
    else truth.put(name, { v: String(step) });
    if (step % 50 === 49) truth.endWatches({ inside: step % 100 === 99 });
    await pass(step % 10 === 0 ? 100 : 3);
  }
  await pass(120_000);
  for (const name of names) {
    assert.equal(reconciled.get(`n/${name}`), truth.objects.get(`n/${name}`)?.metadata.resourceVersion, name);
  }
  stopping.abort(new Error("stopped"));
  await simulation.complete(running);
});

test("kube-rs#286: an object that changes for ever is in the copy once", async () => {
  const changes = Array.from({ length: 100 }, (_, at) => eventOf("MODIFIED", `a@${6 + at}`));
  const { pass, informer, copy } = scriptedInformer([listOf("5", ["a@5"]), { steps: changes, open: true }]);
  await pass(1_000);
  assert.deepEqual([informer.lister.size, copy()], [1, ["a@105"]]);
});

test("vector#5877, vector#5885: an ERROR event without a version is heard, whatever the HTTP status was", async () => {
  const { asked, pass, informer } = scriptedInformer([
    listOf("5", ["a@5"]),
    {
      steps: [
        { waitMs: 5_000 },
        {
          send: {
            type: "ERROR",
            object: { kind: "Status", status: "Failure", code: 500, reason: "InternalError" },
          },
        },
      ],
      open: true,
    },
    listOf("9", ["a@8"]),
  ]);
  await pass(60_000);
  assert.equal(informer.status.failures, 1);
  assert.deepEqual(asked().slice(0, 2), ["list 0", "watch 5"]);
  assert.ok(asked().length >= 3 && informer.connected);
});
