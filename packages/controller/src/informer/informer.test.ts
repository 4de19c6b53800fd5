import assert from "node:assert/strict";
import { test } from "node:test";
import { conflict, objectKey } from "@meridian/kube";
import type { ConfigMap } from "@meridian/kube";
import { fleet } from "../testdata/fleet.ts";
import { refusals } from "../testdata/truth-server.ts";
import { enqueueKeys } from "./informer-handler.ts";
import type { InformerHandler } from "./informer-handler.ts";

/** A handler that writes down what it is told. */
function recorder(): {
  readonly lines: string[];
  readonly handler: InformerHandler<ConfigMap>;
  readonly take: () => string[];
} {
  const lines: string[] = [];
  const text = ({ metadata, data }: ConfigMap): string => `${metadata.name}=${data?.["v"] ?? ""}`;
  return {
    lines,
    take: () => lines.splice(0),
    handler: {
      onAdd: (object, { initial }) => void lines.push(`add ${text(object)}${initial ? " initial" : ""}`),
      onUpdate: (old, object, { resync }) =>
        void lines.push(`update ${text(old)} ${text(object)}${resync ? " resync" : ""}`),
      onDelete: (object, { missed }) => void lines.push(`delete ${text(object)}${missed ? " missed" : ""}`),
    },
  };
}

test("the copy is listed, followed, and told of in order", async () => {
  const { truth, informer, start, pass, isEqual, stop } = await fleet({ pageSize: 2 });
  for (const name of ["a", "b", "c", "d", "e"]) truth.put(name, { v: "1" });
  const { handler, take } = recorder();
  const registration = informer.addHandler(handler);
  assert.deepEqual([informer.hasSynced, registration.hasSynced, informer.lagMs()], [false, false, Infinity]);
  start();
  await pass(1000);
  assert.equal(truth.lists, 3);
  assert.deepEqual([informer.hasSynced, registration.hasSynced, informer.connected], [true, true, true]);
  assert.deepEqual(
    take(),
    ["a", "b", "c", "d", "e"].map((name) => `add ${name}=1 initial`),
  );
  truth.put("a", { v: "2" });
  truth.remove("b");
  truth.put("f", { v: "1" });
  await pass(1000);
  assert.deepEqual(take(), ["update a=1 a=2", "delete b=1", "add f=1"]);
  assert.ok(isEqual());
  assert.equal(informer.version, String(truth.version));
  assert.ok(informer.lagMs() <= 1000);
  await stop();
  assert.equal(informer.connected, false);
});

test("items are complete and frozen through and through", async () => {
  const { truth, informer, start, pass } = await fleet();
  truth.put("a", { v: "1" });
  start();
  await pass(1000);
  const a = informer.lister.get("n/a") as ConfigMap & { data: Record<string, string> };
  assert.deepEqual([a.apiVersion, a.kind], ["v1", "ConfigMap"]);
  assert.throws(() => (a.data["v"] = "2"), TypeError);
});

test("a handler that comes late is told of everything that is there, then of what follows, and may leave", async () => {
  const { truth, informer, start, pass } = await fleet();
  truth.put("a", { v: "1" });
  start();
  await pass(1000);
  truth.put("a", { v: "2" });
  truth.put("b", { v: "1" });
  await pass(1000);
  const { handler, take } = recorder();
  const registration = informer.addHandler(handler);
  assert.deepEqual(take(), [], "not before addHandler has returned");
  truth.put("a", { v: "3" });
  await registration.synced;
  await pass(1000);
  assert.deepEqual(take(), ["add a=2 initial", "add b=1 initial", "update a=2 a=3"]);
  registration.remove();
  truth.put("a", { v: "4" });
  await pass(1000);
  assert.deepEqual(take(), []);
});

test("deletions that nobody saw are told with the last state known, and replacements as two objects", async () => {
  const { truth, informer, start, pass, isEqual } = await fleet();
  for (const name of ["gone", "replaced", "changed", "same"]) truth.put(name, { v: "1" });
  const { handler, take } = recorder();
  informer.addHandler(handler);
  start();
  await pass(1000);
  take();
  truth.refusals.push(...Array.from({ length: 3 }, () => refusals["busy"]?.() as never));
  truth.endWatches();
  truth.remove("gone");
  truth.remove("replaced");
  truth.put("replaced", { v: "2" });
  truth.put("changed", { v: "2" });
  truth.put("new", { v: "1" });
  truth.compact();
  await pass(60_000);
  assert.deepEqual(take(), [
    "delete gone=1 missed",
    "update changed=1 changed=2",
    "add new=1",
    "delete replaced=1 missed",
    "add replaced=2",
  ]);
  assert.equal(informer.resyncs, 1);
  assert.ok(isEqual());
});

test("a relist of what is known wakes nobody", async () => {
  const { truth, informer, start, pass } = await fleet();
  truth.put("a", { v: "1" });
  const { handler, take } = recorder();
  informer.addHandler(handler);
  start();
  await pass(1000);
  take();
  const before = informer.lister.get("n/a");
  truth.tick();
  truth.compact();
  truth.endWatches();
  await pass(60_000);
  assert.equal(informer.resyncs, 1);
  assert.deepEqual(take(), []);
  assert.equal(informer.lister.get("n/a"), before, "even the object is the same");
});

test("bookmarks carry a quiet copy over a compaction", async () => {
  const { truth, informer, start, pass } = await fleet();
  truth.put("a", { v: "1" });
  start();
  await pass(1000);
  truth.tick();
  truth.compact();
  truth.bookmark();
  await pass(1000);
  truth.endWatches();
  await pass(60_000);
  assert.deepEqual([informer.resyncs, informer.version], [0, String(truth.version)]);
});

test("a handler that is resynced is told of everything again, at its own pace", async () => {
  const { truth, informer, start, pass } = await fleet();
  truth.put("a", { v: "1" });
  const [often, never] = [recorder(), recorder()];
  informer.addHandler(often.handler, { resyncMs: 10_000 });
  informer.addHandler(never.handler);
  start();
  await pass(25_000);
  assert.deepEqual(often.lines, ["add a=1 initial", "update a=1 a=1 resync", "update a=1 a=1 resync"]);
  assert.deepEqual(never.lines, ["add a=1 initial"]);
});

test("a handler that throws or rejects is reported, and neither it nor others miss anything", async () => {
  const { truth, informer, start, pass, logged } = await fleet();
  truth.put("a", { v: "1" });
  truth.put("b", { v: "1" });
  const { handler, take } = recorder();
  let calls = 0;
  informer.addHandler({
    onAdd: ({ metadata }) => {
      calls++;
      if (metadata.name === "a") throw new Error("no a");
      return Promise.reject(new Error("no b"));
    },
  });
  informer.addHandler(handler);
  start();
  await pass(1000);
  assert.equal(calls, 2);
  assert.equal(informer.status.handlerErrors, 2);
  assert.equal(
    logged.filter(({ message, level }) => message === "handler failed" && level === "error").length,
    2,
  );
  assert.deepEqual(take(), ["add a=1 initial", "add b=1 initial"]);
});

test("a slow handler is called one at a time, and told of the difference since its last call", async () => {
  const { truth, informer, start, pass, runtime } = await fleet();
  truth.put("a", { v: "1" });
  truth.put("b", { v: "1" });
  const lines: string[] = [];
  let running = 0;
  const slow = async (line: string): Promise<void> => {
    assert.equal(++running, 1);
    await runtime.clock.sleep(10_000);
    running--;
    lines.push(line);
  };
  const v = ({ data }: ConfigMap): string => data?.["v"] ?? "";
  informer.addHandler({
    onAdd: ({ metadata, data }) => slow(`add ${metadata.name}=${data?.["v"]}`),
    onUpdate: (old, object) => slow(`update ${object.metadata.name} ${v(old)} ${v(object)}`),
    onDelete: (object) => slow(`delete ${object.metadata.name} ${v(object)}`),
  });
  start();
  await pass(1000);
  truth.put("a", { v: "2" });
  truth.put("a", { v: "3" });
  truth.put("short", { v: "1" });
  truth.remove("short");
  truth.put("b", { v: "2" });
  truth.remove("b");
  truth.put("b", { v: "3" });
  await pass(100_000);
  assert.deepEqual(lines, ["add a=1", "add b=3", "update a 1 3"]);
});

test("indexes hold at every moment, for objects before and after they were added", async () => {
  const { truth, informer, start, pass, logged } = await fleet();
  truth.put("a", { v: "x" });
  truth.put("b", { v: "x" });
  informer.addIndex("v", ({ data }) => (data?.["v"] === "bad" ? fail() : [data?.["v"] ?? "", "all"]));
  const names = (objects: readonly ConfigMap[]): string =>
    objects
      .map(({ metadata }) => metadata.name)
      .sort()
      .join();
  const seen: string[] = [];
  informer.addHandler({
    onUpdate: (_, object) => void seen.push(names(informer.lister.byIndex("v", object.data?.["v"] ?? ""))),
    onDelete: () => void seen.push(names(informer.lister.byIndex("v", "all"))),
  });
  start();
  await pass(1000);
  assert.equal(names(informer.lister.byIndex("v", "x")), "a,b");
  truth.put("a", { v: "y" });
  await pass(1000);
  truth.remove("b");
  await pass(1000);
  assert.deepEqual(seen, ["a", "a"]);
  assert.equal(names(informer.lister.byIndex("v", "x")), "");
  informer.addIndex("late", ({ metadata }) => [metadata.name ?? ""]);
  assert.equal(names(informer.lister.byIndex("late", "a")), "a");
  assert.equal(names(informer.lister.list("n")), "a");
  assert.equal(names(informer.lister.list("other")), "");
  truth.put("a", { v: "bad" });
  await pass(1000);
  assert.equal(names(informer.lister.byIndex("v", "all")), "");
  assert.equal(logged.filter(({ message }) => message === "index function failed").length, 1);
  assert.throws(() => informer.addIndex("v", () => []), { code: "IndexConflict" });
  assert.throws(() => informer.lister.byIndex("nope", ""), {
    code: "UnknownIndex",
    message: /there are: v, late/,
  });
});

function fail(): never {
  throw new Error("cannot index");
}

test("a transform saves memory, and one that fails costs nothing but a report", async () => {
  const transform = (object: ConfigMap): ConfigMap => {
    if (object.metadata.name === "b") fail();
    return { ...object, data: { v: "short" } };
  };
  const { truth, informer, start, pass } = await fleet({ transform });
  truth.put("a", { v: "long" });
  truth.put("b", { v: "long" });
  start();
  await pass(1000);
  assert.deepEqual(
    [informer.lister.get("n/a")?.data, informer.lister.get("n/b")?.data],
    [{ v: "short" }, { v: "long" }],
  );
  assert.equal(informer.status.handlerErrors, 1);
});

test("an informer that was stopped calls nobody, stays readable, and goes on from its copy", async () => {
  const { truth, informer, start, stop, pass, isEqual, simulation } = await fleet();
  truth.put("a", { v: "1" });
  const { handler, take } = recorder();
  informer.addHandler(handler);
  start();
  await assert.rejects(informer.run(new AbortController().signal), { code: "AlreadyRunning" });
  await pass(1000);
  await stop();
  take();
  truth.put("b", { v: "1" });
  await pass(60_000);
  assert.deepEqual(take(), []);
  assert.equal(informer.lister.size, 1);
  const again = new AbortController();
  const running = informer.run(again.signal);
  await pass(1000);
  assert.deepEqual(take(), ["add b=1"]);
  assert.ok(isEqual());
  again.abort();
  await simulation.complete(running);
});

test("an informer that stops leaves no timer and no open exchange", async () => {
  const { truth, informer, start, stop, pass, simulation, client } = await fleet({ resyncMs: 1000 });
  truth.put("a", { v: "1" });
  informer.addHandler({});
  start();
  await pass(5000);
  await stop();
  await simulation.complete(client[Symbol.asyncDispose]());
  await pass(60_000);
  assert.equal(simulation.pendingTimers, 0);
});

test("a copy that streams its initial state is equal to one that lists it", async () => {
  const { truth, informer, start, pass, isEqual } = await fleet({ watchList: true });
  for (const name of ["a", "b", "c"]) truth.put(name, { v: "1" });
  const { handler, take } = recorder();
  informer.addHandler(handler);
  start();
  await pass(1000);
  assert.deepEqual([truth.lists, truth.watchesOpened, informer.hasSynced], [0, 1, true]);
  assert.deepEqual(take(), ["add a=1 initial", "add b=1 initial", "add c=1 initial"]);
  truth.put("a", { v: "2" });
  await pass(1000);
  assert.deepEqual(take(), ["update a=1 a=2"]);
  assert.ok(isEqual());
});

test("watches and other requests do not wait for each other", async () => {
  const { truth, informer, start, pass, client, simulation } = await fleet();
  start();
  await pass(1000);
  truth.refusals.push(conflict({ group: "", plural: "configmaps" }, "x"));
  await assert.rejects(simulation.complete(client.get(informer.type, { namespace: "n", name: "x" })), {
    code: 409,
  });
  truth.put("a", { v: "1" });
  await pass(1000);
  assert.equal(informer.lister.size, 1);
});

test("keys of the old and the new state are enqueued", () => {
  const keys: string[] = [];
  const handler = enqueueKeys<ConfigMap>({ enqueue: (key) => void keys.push(key) }, ({ metadata, data }) => [
    objectKey(metadata),
    ...Object.keys(data ?? {}),
  ]);
  const object = (data: Record<string, string>): ConfigMap => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a" },
    data,
  });
  void handler.onUpdate?.(object({ x: "" }), object({ y: "" }), { resync: false });
  assert.deepEqual(keys, ["a", "x", "y"]);
});
