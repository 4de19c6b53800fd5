import assert from "node:assert/strict";
import type { Revision } from "../storage.ts";
import { follow } from "./watch-follower.ts";
import { bytes, createMany, rejectsWith, settled, stateOf, written } from "./storage-fixtures.ts";
import type { ContractTests } from "./storage-place.ts";

/** What is promised when history goes. */
export const compactions: ContractTests = {
  "compaction ends what needs older history, and keeps the rest": async (place) => {
    const store = await place.open();
    const one = written(await store.create("a/1", bytes("one")));
    const two = written(await store.update("a/1", bytes("two"), one));
    const three = written(await store.update("a/1", bytes("three"), two));
    await store.compact(two);
    assert.equal(store.compactedRevision(), two);
    await rejectsWith(store.list({ prefix: "", revision: one }), "Compacted");
    assert.equal(await stateOf(store, two), "a/1=two");
    assert.equal(await stateOf(store, three), "a/1=three");
    const signal = new AbortController().signal;
    assert.throws(() => store.watch({ prefix: "", after: one, signal }), { code: "Compacted" });
    const watch = follow(store, { prefix: "", after: two });
    assert.deepEqual(await watch.take(1), [`put ${three} a/1=three, was two@${two}`]);
    await watch.stop();
  },

  "compacting again, or an older revision, changes nothing": async (place) => {
    const store = await place.open();
    await createMany(store, { prefix: "a/", count: 10 });
    const target = (store.revision() - 3) as Revision;
    await Promise.all([
      store.compact(target),
      store.compact((target - 2) as Revision),
      store.compact(target),
    ]);
    await store.compact((target - 1) as Revision);
    assert.equal(store.compactedRevision(), target);
    assert.equal((await store.list({ prefix: "a/" })).records.length, 10);
  },

  "everything can be compacted, and the store goes on": async (place) => {
    const store = await place.open();
    await createMany(store, { prefix: "a/", count: 5 });
    await store.compact(store.revision());
    assert.equal(store.compactedRevision(), store.revision());
    assert.equal((await store.list({ prefix: "a/", revision: store.revision() })).records.length, 5);
    const watch = follow(store, { prefix: "a/", after: store.revision() });
    const next = written(await store.create("a/next", bytes("v")));
    assert.deepEqual(await watch.take(1), [`put ${next} a/next=v, was nothing`]);
    await watch.stop();
  },

  "open pages fail once their revision is compacted": async (place) => {
    const store = await place.open();
    await createMany(store, { prefix: "a/", count: 10 });
    const page = await store.list({ prefix: "a/", limit: 4 });
    written(await store.create("b/1", bytes("v")));
    await store.compact(store.revision());
    const next = { prefix: "a/", limit: 4, after: page.records.at(-1)!.key };
    await rejectsWith(store.list({ ...next, revision: page.revision }), "Compacted");
    assert.equal((await store.list(next)).records.length, 4);
  },

  "a reader that is still catching up when its history goes is told so": async (place) => {
    const store = await place.open();
    const start = store.revision();
    await createMany(store, { prefix: "a/", count: 1_500 });
    const signal = new AbortController().signal;
    const iterator = store.watch({ prefix: "a/", after: start, signal })[Symbol.asyncIterator]();
    assert.equal((await iterator.next()).done, false);
    await store.compact(store.revision());
    await rejectsWith(iterator.next(), "Compacted");
    assert.equal((await iterator.next()).done, true);
  },

  "a following watch does not notice a compaction": async (place) => {
    const store = await place.open();
    const watch = follow(store, { prefix: "a/", after: store.revision() });
    const first = written(await store.create("a/1", bytes("v")));
    await store.compact(store.revision());
    const second = written(await store.create("a/2", bytes("v")));
    assert.deepEqual(await watch.take(2), [
      `put ${first} a/1=v, was nothing`,
      `put ${second} a/2=v, was nothing`,
    ]);
    await watch.stop();
  },

  "the history is bounded by count": async (place) => {
    const store = await place.open({ revisionsMin: 10, revisionsMax: 100 });
    for (let i = 0; i < 50; i++) await createMany(store, { prefix: `a/${i}/`, count: 10 });
    await settled(store);
    assert.ok(store.revision() - store.compactedRevision() <= 120);
    assert.ok(store.revision() - store.compactedRevision() >= 80);
    assert.equal((await store.list({ prefix: "a/" })).records.length, 500);
  },

  "the history is bounded by bytes": async (place) => {
    const store = await place.open({ revisionsMin: 10, bytesMax: 100_000 });
    let revision = written(await store.create("a/1", new Uint8Array(10_000)));
    for (let i = 0; i < 50; i++)
      revision = written(await store.update("a/1", new Uint8Array(10_000), revision));
    await settled(store);
    assert.ok(store.revision() - store.compactedRevision() <= 12);
  },

  "old history goes with time, save a minimum that lets quiet watchers resume": async (place) => {
    const store = await place.open({ revisionsMin: 20, ageMs: 60_000 });
    await createMany(store, { prefix: "a/", count: 100 });
    const start = store.compactedRevision();
    const kept = (store.revision() - 20) as Revision;
    await place.advance(30_000);
    await settled(store);
    assert.equal(store.compactedRevision(), start);
    await place.advance(60_000);
    await settled(store);
    assert.ok(store.compactedRevision() >= kept);
    await place.advance(600_000);
    await settled(store);
    assert.ok(
      store.compactedRevision() >= store.revision() - 22 &&
        store.compactedRevision() <= store.revision() - 20,
    );
  },
};
