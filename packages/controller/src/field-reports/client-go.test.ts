import assert from "node:assert/strict";
import { test } from "node:test";
import { readingOf } from "../client/object-reading.ts";
import { HandlerFeed } from "../informer/handler-feed.ts";
import { OctetArena } from "../informer/octet-arena.ts";
import type { RawObject } from "../informer/raw-object.ts";
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

/** What users of client-go and of kube-apiserver met, as far as a client can show it (`k8s#`, `client-go#`). */

const expired = { status: 410, steps: [{ send: failureStatus(410, "Expired") }] };

for (const [name, details] of Object.entries({
  "k8s#107133": { causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }] },
  "k8s#92537, k8s#94316 (without the cause)": undefined,
})) {
  test(`${name}: a server that is behind the copy is asked for its newest state`, async () => {
    const message = "Timeout: Too large resource version: 900, current: 7";
    const tooLarge = { ...failureStatus(504, "Timeout", message), ...(details !== undefined && { details }) };
    const { asked, pass, copy, informer } = scriptedInformer([
      listOf("5", ["a@5"]),
      watchOf(bookmarkOf("900")),
      expired,
      json(tooLarge, 504),
      listOf("7", ["a@5", "b@7"]),
    ]);
    await pass(120_000);
    assert.deepEqual(asked(), ["list 0", "watch 5", "watch 900", "list 900", 'list ""', "watch 7"]);
    assert.deepEqual([copy(), informer.version], [["a@5", "b@7"], "7"]);
  });
}

test("k8s#129266: the first 410 leads to a list, and a list that is too old as well to the newest state", async () => {
  const { asked, pass, copy } = scriptedInformer([
    listOf("5", ["a@5"]),
    expired,
    json(failureStatus(410, "Expired"), 410),
    listOf("9", ["a@8"]),
  ]);
  await pass(10_000);
  assert.deepEqual(asked(), ["list 0", "watch 5", "list 5", 'list ""', "watch 9"]);
  assert.deepEqual(copy(), ["a@8"]);
});

test("k8s#140890: a streamed state whose end is never marked is listed instead, though its server goes on talking", async () => {
  const chatter = Array.from({ length: 60 }, (_, at) => [
    bookmarkOf(String(10 + at)),
    { waitMs: 5_000 },
  ]).flat();
  const { asked, pass, copy, told } = scriptedInformer(
    [{ steps: [eventOf("ADDED", "a@5"), ...chatter], open: true }, listOf("80", ["a@5"])],
    { watchList: true },
  );
  await pass(59_000);
  assert.deepEqual(told, [], "nothing of a state that is not complete is told");
  await pass(11_000);
  assert.deepEqual(asked(), ['watch ""', "list 0", "watch 80"]);
  assert.deepEqual(copy(), ["a@5"]);
});

test("k8s#129408: what happens between list and watch is told, since the test server honours the version", async () => {
  const { truth, informer, start, simulation, pass, isEqual } = await fleet();
  for (const name of ["a", "b"]) truth.put(name, { v: "1" });
  start();
  await simulation.run({ until: () => informer.hasSynced });
  assert.equal(truth.watchesOpened, 0, "the watch is still on its way");
  truth.remove("a");
  truth.put("c", { v: "1" });
  await pass(5_000);
  assert.ok(isEqual());
});

test("k8s#86015: what a list finds changed is told to handlers without resync, too", async () => {
  const { told, pass } = scriptedInformer([
    listOf("5", ["a@5", "b@3"]),
    expired,
    listOf("9", ["a@8", "b@3"]),
  ]);
  await pass(10_000);
  assert.deepEqual(told.slice(2), ["update a@5 a@8"]);
});

test("k8s#115658, k8s#27004: an object that came and went before its handler heard of it is told of in whole or not at all", async () => {
  const { truth, informer, start, pass, runtime, isEqual } = await fleet();
  truth.put("slow", { v: "1" });
  const known = new Set<string>();
  informer.addHandler({
    async onAdd({ metadata }) {
      await runtime.clock.sleep(10_000, new AbortController().signal);
      assert.ok(!known.has(metadata.name ?? ""));
      known.add(metadata.name ?? "");
    },
    onDelete: ({ metadata }) => assert.ok(known.delete(metadata.name ?? "")),
  });
  start();
  await pass(5_000);
  truth.put("brief", { v: "1" });
  truth.put("gone in a gap", { v: "1" });
  await pass(100);
  truth.remove("brief");
  truth.endWatches();
  truth.remove("gone in a gap");
  truth.tick();
  truth.compact();
  truth.remove("slow");
  await pass(120_000);
  assert.deepEqual([...known], []);
  assert.equal(informer.status.handlerErrors, 0);
  assert.ok(isEqual());
});

test("client-go#1312: a resync reaches exactly the handlers that are due, from the first period on", async () => {
  const { truth, informer, start, pass } = await fleet();
  truth.put("a", { v: "1" });
  const counts = { often: 0, seldom: 0, never: 0 };
  const count = (name: keyof typeof counts) => ({
    onUpdate: (_: unknown, __: unknown, { resync }: { readonly resync: boolean }) => {
      assert.ok(resync);
      counts[name]++;
    },
  });
  informer.addHandler(count("often"), { resyncMs: 10_000 });
  informer.addHandler(count("seldom"), { resyncMs: 25_000 });
  informer.addHandler(count("never"));
  start();
  await pass(11_000);
  assert.deepEqual(counts, { often: 1, seldom: 0, never: 0 });
  await pass(41_000);
  assert.deepEqual(counts, { often: 5, seldom: 2, never: 0 });
  assert.equal(truth.lists, 1, "the server is not asked");
});

test("client-go#1330: a handler that never comes back costs one entry per object, and stopping frees it", async () => {
  const arena = new OctetArena<unknown>((value) => value);
  const feed = new HandlerFeed<unknown>(
    { onKey: () => new Promise(() => {}) },
    {
      clock: { after: () => () => {} },
      objects: arena,
      stopped: false,
      onError: assert.fail,
      onRemove: () => {},
    },
  );
  feed.present([]);
  let before: RawObject<unknown> | undefined;
  for (let version = 1; version <= 20_000; version++) {
    const metadata = { name: `o${version % 10}`, uid: "u", resourceVersion: String(version) };
    const after = arena.put(readingOf({ metadata, data: { text: "x".repeat(500) } }));
    feed.change([{ key: after.key, before: undefined, after }]);
    arena.release(after);
    if (version % 100 === 0) await Promise.resolve();
    before = after;
  }
  assert.ok(feed.pending <= 10, String(feed.pending));
  assert.ok(arena.bytes < 64 * 1024, String(arena.bytes));
  assert.ok(before !== undefined && before.holders === 1);
  feed.remove();
  assert.deepEqual([feed.pending, before.holders], [0, 0]);
});
