import assert from "node:assert/strict";
import { bufferedEventsMax } from "../watcher.ts";
import type { Revision } from "../storage.ts";
import { type Follower, follow } from "./watch-follower.ts";
import { bytes, createMany, written } from "./storage-fixtures.ts";
import type { ContractTests } from "./storage-place.ts";

/** What is promised of watches: each event once, in order, and bounded. */
export const watches: ContractTests = {
  "a watch delivers every write behind its revision once, with the previous record": async (place) => {
    const store = await place.open();
    written(await store.create("a/0", bytes("before")));
    const start = store.revision();
    const one = written(await store.create("a/1", bytes("one")));
    const watch = follow(store, { prefix: "a/", after: start });
    const two = written(await store.update("a/1", bytes("two"), one));
    written(await store.create("b/1", bytes("elsewhere")));
    const three = written(await store.delete("a/1", two));
    assert.deepEqual(await watch.take(3), [
      `put ${one} a/1=one, was nothing`,
      `put ${two} a/1=two, was one@${one}`,
      `delete ${three} a/1, was two@${two}`,
    ]);
    await watch.stop();
  },

  "a deletion event has the revision of the deletion": async (place) => {
    const store = await place.open();
    const created = written(await store.create("a/1", bytes("one")));
    const watch = follow(store, { prefix: "a/", after: created });
    const deleted = written(await store.delete("a/1", created));
    await watch.take(1);
    assert.equal(watch.events[0]?.revision, deleted);
    assert.equal(watch.events[0]?.previous?.modRevision, created);
    await watch.stop();
  },

  "watches started at every revision of a running store miss nothing and repeat nothing": async (place) => {
    const store = await place.open();
    const start = store.revision();
    const watchers: Follower[] = [];
    const count = 60;
    for (let i = 0; i < count; i++) {
      const results = Promise.all([store.create(`a/${i}`, bytes("v")), store.create(`b/${i}`, bytes("v"))]);
      watchers.push(follow(store, { prefix: "a/", after: store.revision() }));
      await results;
      watchers.push(follow(store, { prefix: "a/", after: store.revision() }));
      watchers.push(follow(store, { prefix: "a/", after: start }));
    }
    const last = store.revision();
    for (const watcher of watchers) {
      await watcher.until(last);
      const expected: number[] = [];
      for (let revision = start + 1; revision < last; revision += 2)
        if (revision > watcher.after) expected.push(revision);
      assert.deepEqual(
        watcher.events.map((event) => Number(event.revision)),
        expected,
      );
      await watcher.stop();
    }
  },

  "progress never runs ahead of events, and rises": async (place) => {
    const store = await place.open();
    const watch = follow(store, { prefix: "a/", after: store.revision() });
    for (let i = 0; i < 30; i++) {
      await Promise.all([store.create(`b/${i}`, bytes("v")), store.create(`a/${i}`, bytes("v"))]);
    }
    await watch.until(store.revision());
    let progress = 0;
    for (const batch of watch.batches) {
      for (const event of batch.events)
        assert.ok(event.revision > progress && event.revision <= batch.progress);
      assert.ok(batch.progress >= progress);
      progress = batch.progress;
    }
    await watch.stop();
  },

  "the first batch comes at once, also where nothing happened": async (place) => {
    const store = await place.open();
    const revision = written(await store.create("b/1", bytes("v")));
    const watch = follow(store, { prefix: "a/", after: revision });
    await watch.until(revision);
    assert.deepEqual(watch.batches, [{ events: [], progress: revision }]);
    await watch.stop();
  },

  "a quiet prefix hears of progress while the rest of the store moves": async (place) => {
    const store = await place.open();
    const watch = follow(store, { prefix: "a/", after: store.revision() });
    await watch.until(store.revision());
    const revision = written(await store.create("b/1", bytes("v")));
    await place.advance(10_000);
    await watch.until(revision);
    assert.deepEqual(watch.batches.at(-1), { events: [], progress: revision });
    const batches = watch.batches.length;
    await place.advance(60_000);
    assert.equal(watch.batches.length, batches, "an idle store says nothing");
    await watch.stop();
  },

  "a watch from a future revision stays quiet until it is passed": async (place) => {
    const store = await place.open();
    const future = (store.revision() + 2) as Revision;
    const watch = follow(store, { prefix: "a/", after: future });
    written(await store.create("a/1", bytes("v")));
    written(await store.create("a/2", bytes("v")));
    await place.advance(10_000);
    assert.deepEqual(watch.batches, []);
    const third = written(await store.create("a/3", bytes("v")));
    assert.deepEqual(await watch.take(1), [`put ${third} a/3=v, was nothing`]);
    await watch.stop();
  },

  "an aborted watch ends without an error, also while it waits": async (place) => {
    const store = await place.open();
    const watch = follow(store, { prefix: "a/", after: store.revision() });
    await watch.until(store.revision());
    await watch.stop();
    assert.equal(watch.failure, undefined);
    const aborted = new AbortController();
    aborted.abort();
    const iterator = store.watch({ prefix: "a/", after: store.revision(), signal: aborted.signal });
    assert.deepEqual(await iterator[Symbol.asyncIterator]().next(), { done: true, value: undefined });
  },

  "leaving the loop ends the watch": async (place) => {
    const store = await place.open();
    for await (const batch of store.watch({
      prefix: "",
      after: store.revision(),
      signal: new AbortController().signal,
    })) {
      assert.deepEqual(batch.events, []);
      break;
    }
    written(await store.create("a/1", bytes("v")));
  },

  "a reader that falls behind is ended without an error and resumes without a gap": async (place) => {
    const store = await place.open();
    const start = store.revision();
    const signal = new AbortController().signal;
    const slow = store.watch({ prefix: "a/", after: start, signal })[Symbol.asyncIterator]();
    assert.deepEqual((await slow.next()).value, { events: [], progress: start });
    await createMany(store, { prefix: "a/", count: bufferedEventsMax + 1 });
    assert.equal((await slow.next()).done, true);
    const resumed = follow(store, { prefix: "a/", after: start });
    await resumed.until(store.revision());
    assert.equal(resumed.events.length, bufferedEventsMax + 1);
    await resumed.stop();
  },

  "a long history is caught up with in bounded batches": async (place) => {
    const store = await place.open();
    const start = store.revision();
    await createMany(store, { prefix: "a/", count: 2_000 });
    const watch = follow(store, { prefix: "a/", after: start });
    await watch.until(store.revision());
    assert.equal(watch.events.length, 2_000);
    assert.ok(watch.batches.length >= 4);
    await watch.stop();
  },

  "thousands of watches each get what is theirs": async (place) => {
    const store = await place.open();
    const watchers: Follower[] = [];
    for (let i = 0; i < 2_000; i++) {
      watchers.push(follow(store, { prefix: `a/${i % 100}/`, after: store.revision() }));
    }
    for (let i = 0; i < 100; i++) written(await store.create(`a/${i}/x`, bytes(String(i))));
    for (const watcher of watchers) {
      await watcher.take(1);
      assert.equal(watcher.events.length, 1);
      await watcher.stop();
    }
  },
};
