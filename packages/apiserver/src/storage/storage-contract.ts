import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { bufferedEventsMax } from "./watcher.ts";
import type { RetentionPolicy } from "./retention.ts";
import type {
  Revision,
  Storage,
  StorageErrorCode,
  StorageEvent,
  WatchBatch,
  WriteResult,
} from "./storage.ts";

/** A backend under test. */
export interface StorageSubject {
  readonly name: string;
  /** Whether data outlives `close` and a new `open`. */
  readonly persistent: boolean;
  /** Runs a test with an empty place; closes what the test left open. */
  run(body: (place: StoragePlace) => Promise<void>): Promise<void>;
}

/** Where one test keeps its store. */
export interface StoragePlace {
  open(retention?: Partial<RetentionPolicy>): Promise<Storage>;
  /** Lets time go on by the store's clock. */
  advance(ms: number): Promise<void>;
}

/** What every backend promises, as tests. */
export function describeStorage(subject: StorageSubject): void {
  describe(`storage contract: ${subject.name}`, () => {
    for (const [name, body] of Object.entries({
      ...writes,
      ...lists,
      ...watches,
      ...compactions,
      ...closings,
    })) {
      test(name, () => subject.run(body));
    }
    if (!subject.persistent) return;
    for (const [name, body] of Object.entries(reopenings)) test(name, () => subject.run(body));
  });
}

type Body = (place: StoragePlace) => Promise<void>;

const writes: Record<string, Body> = {
  "a new key gets a revision of its own, which a reader finds": async (place) => {
    const store = await place.open();
    const before = store.revision();
    const revision = written(await store.create("a/1", bytes("one")));
    assert.equal(revision, before + 1);
    assert.equal(store.revision(), revision);
    const record = await store.get("a/1");
    assert.deepEqual(shown(record), ["a/1", "one", revision, revision]);
  },

  "creating a key that exists is a conflict that shows what stands there": async (place) => {
    const store = await place.open();
    const revision = written(await store.create("a/1", bytes("one")));
    const result = await store.create("a/1", bytes("two"));
    assert.equal(result.outcome, "conflict");
    assert.deepEqual(shown(result.outcome === "conflict" ? result.current : undefined), [
      "a/1",
      "one",
      revision,
      revision,
    ]);
    assert.equal(store.revision(), revision);
  },

  "an update names the revision it saw, and keeps the revision of the creation": async (place) => {
    const store = await place.open();
    const created = written(await store.create("a/1", bytes("one")));
    const updated = written(await store.update("a/1", bytes("two"), created));
    assert.deepEqual(shown(await store.get("a/1")), ["a/1", "two", updated, created]);
    const stale = await store.update("a/1", bytes("three"), created);
    assert.equal(stale.outcome, "conflict");
    assert.equal(stale.outcome === "conflict" && stale.current?.modRevision, updated);
    const absent = await store.update("a/2", bytes("x"), created);
    assert.deepEqual(absent, { outcome: "conflict", current: undefined });
  },

  "a deletion names the revision it saw, and a new creation starts anew": async (place) => {
    const store = await place.open();
    const created = written(await store.create("a/1", bytes("one")));
    assert.equal((await store.delete("a/1", (created + 1) as Revision)).outcome, "conflict");
    const deleted = written(await store.delete("a/1", created));
    assert.equal(deleted, created + 1);
    assert.equal(await store.get("a/1"), undefined);
    assert.deepEqual(await store.delete("a/1", created), { outcome: "conflict", current: undefined });
    const again = written(await store.create("a/1", bytes("two")));
    assert.deepEqual(shown(await store.get("a/1")), ["a/1", "two", again, again]);
  },

  "of many writers of one revision exactly one wins": async (place) => {
    const store = await place.open();
    const created = written(await store.create("a/1", bytes("0")));
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, i) => store.update("a/1", bytes(String(i)), created)),
    );
    assert.equal(results.filter((result) => result.outcome === "written").length, 1);
    const winner = results.findIndex((result) => result.outcome === "written");
    assert.equal(text((await store.get("a/1"))?.value), String(winner));
    for (const result of results) {
      if (result.outcome === "conflict") assert.equal(result.current?.modRevision, created + 1);
    }
  },

  "a lost race is told when the winner is durable, so the loser can read it": async (place) => {
    const store = await place.open();
    const first = store.create("a/1", bytes("one"));
    const second = store.create("a/1", bytes("two"));
    assert.equal((await second).outcome, "conflict");
    assert.equal(text((await store.get("a/1"))?.value), "one");
    written(await first);
  },

  "concurrent writes get consecutive revisions in the order of the calls": async (place) => {
    const store = await place.open();
    const start = store.revision();
    const results = await Promise.all(
      Array.from({ length: 300 }, (_, i) => store.create(`k/${i}`, bytes("v"))),
    );
    assert.deepEqual(
      results.map(written),
      results.map((_, i) => start + 1 + i),
    );
  },

  "values of every size come back as they were": async (place) => {
    const store = await place.open();
    const sizes = [0, 1, 4_000, 4_096, 5_000, 70_000, 1_500_000];
    for (const size of sizes) written(await store.create(`v/${size}`, patterned(size)));
    for (const size of sizes)
      assert.deepEqual(new Uint8Array((await store.get(`v/${size}`))!.value), patterned(size));
  },

  "keys that cannot be stored and values over the limit are refused by name": async (place) => {
    const store = await place.open();
    await rejectsWith(store.create("", bytes("x")), "InvalidKey");
    await rejectsWith(store.create("x".repeat(1_025), bytes("x")), "InvalidKey");
    await rejectsWith(store.create("é".repeat(513), bytes("x")), "InvalidKey");
    await rejectsWith(store.create("a\ud800b", bytes("x")), "InvalidKey");
    await rejectsWith(store.create("a", new Uint8Array(4 * 1_024 * 1_024 + 1)), "TooLarge");
    written(await store.create("é".repeat(512), bytes("x")));
    written(await store.create("a\u{10000}b", bytes("x")));
  },
};

const lists: Record<string, Body> = {
  "a prefix ends where its bytes end": async (place) => {
    const store = await place.open();
    for (const key of ["a", "a/", "a/1", "a/1/x", "a/2", "a0", "ab/1", "b/1"])
      written(await store.create(key, bytes("v")));
    assert.deepEqual(keys(await store.list({ prefix: "a/" })), ["a/", "a/1", "a/1/x", "a/2"]);
    assert.deepEqual(keys(await store.list({ prefix: "a/1/" })), ["a/1/x"]);
    assert.deepEqual(keys(await store.list({ prefix: "zz" })), []);
    assert.equal((await store.list({ prefix: "" })).records.length, 8);
  },

  "keys come in the order of their UTF-8 bytes": async (place) => {
    const store = await place.open();
    const names = [
      "k/\u{10000}",
      "k/\uffee",
      "k/\ue000",
      "k/z",
      "k/Z",
      "k/é",
      "k/~",
      "k/-",
      "k/.",
      "k/\u{1f600}",
    ];
    for (const name of names) written(await store.create(name, bytes("v")));
    const byBytes = names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    assert.deepEqual(keys(await store.list({ prefix: "k/" })), byBytes);
    assert.deepEqual(keys(await store.list({ prefix: "k/", after: "k/\uffee" })), [
      "k/\u{10000}",
      "k/\u{1f600}",
    ]);
  },

  "pages tell how many keys remain and go on behind a key": async (place) => {
    const store = await place.open();
    await createMany(store, { prefix: "a/", count: 25 });
    written(await store.create("b/1", bytes("v")));
    const first = await store.list({ prefix: "a/", limit: 10 });
    assert.deepEqual([first.records.length, first.remaining], [10, 15]);
    const second = await store.list({ prefix: "a/", limit: 10, after: first.records.at(-1)!.key });
    assert.deepEqual([second.records.length, second.remaining], [10, 5]);
    const third = await store.list({ prefix: "a/", limit: 10, after: second.records.at(-1)!.key });
    assert.deepEqual([third.records.length, third.remaining], [5, 0]);
    assert.deepEqual(
      [...keys(first), ...keys(second), ...keys(third)],
      keys(await store.list({ prefix: "a/" })),
    );
    const none = await store.list({ prefix: "a/", limit: 0 });
    assert.deepEqual([none.records.length, none.remaining], [0, 25]);
    const behind = await store.list({ prefix: "a/", after: "b" });
    assert.deepEqual([behind.records.length, behind.remaining], [0, 0]);
  },

  "an empty list has the revision of the store": async (place) => {
    const store = await place.open();
    const revision = written(await store.create("b/1", bytes("v")));
    assert.deepEqual(await store.list({ prefix: "a/" }), { records: [], revision, remaining: 0 });
  },

  "the pages of one list show one revision while writes go on": async (place) => {
    const store = await place.open();
    await createMany(store, { prefix: "a/", count: 60 });
    const whole = await store.list({ prefix: "a/" });
    const seen: string[] = [];
    let page = await store.list({ prefix: "a/", limit: 7 });
    const { revision } = page;
    for (let turn = 0; ; turn++) {
      seen.push(...page.records.map((record) => `${record.key}=${text(record.value)}@${record.modRevision}`));
      assert.equal(page.revision, revision);
      assert.equal(page.remaining, 60 - seen.length);
      if (page.remaining === 0) break;
      const [victim] = (await store.list({ prefix: "a/", after: page.records.at(-1)!.key, limit: 1 }))
        .records;
      if (victim !== undefined) written(await store.delete(victim.key, victim.modRevision));
      const [changed] = (await store.list({ prefix: "a/", limit: 1 })).records;
      written(await store.update(changed!.key, bytes(`changed ${turn}`), changed!.modRevision));
      written(await store.create(`a/new-${turn}`, bytes("new")));
      page = await store.list({ prefix: "a/", limit: 7, after: page.records.at(-1)!.key, revision });
    }
    assert.deepEqual(
      seen,
      whole.records.map((record) => `${record.key}=${text(record.value)}@${record.modRevision}`),
    );
  },

  "every revision of the history can be listed as it was": async (place) => {
    const store = await place.open();
    const states = new Map<Revision, string>();
    const note = async (): Promise<void> => void states.set(store.revision(), await stateOf(store));
    await note();
    for (let i = 0; i < 40; i++) {
      const key = `a/${i % 7}`;
      const current = await store.get(key);
      if (current === undefined) written(await store.create(key, bytes(`c${i}`)));
      else if (i % 3 === 0) written(await store.delete(key, current.modRevision));
      else written(await store.update(key, bytes(`u${i}`), current.modRevision));
      await note();
    }
    const order = [...states.keys()];
    for (const revision of [...order.toReversed(), ...order]) {
      assert.equal(await stateOf(store, revision), states.get(revision), `at ${revision}`);
    }
  },

  "a revision that does not exist yet is refused, not guessed": async (place) => {
    const store = await place.open();
    const future = (store.revision() + 1) as Revision;
    await rejectsWith(store.list({ prefix: "", revision: future }), "FutureRevision");
    await rejectsWith(store.compact(future), "FutureRevision");
  },
};

const watches: Record<string, Body> = {
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

const compactions: Record<string, Body> = {
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

const closings: Record<string, Body> = {
  "closing makes the writes under way durable, ends the watches, and refuses the rest": async (place) => {
    const store = await place.open();
    const watch = follow(store, { prefix: "", after: store.revision() });
    await watch.until(store.revision());
    const last = store.create("a/1", bytes("v"));
    const closed = store[Symbol.asyncDispose]();
    const revision = written(await last);
    await closed;
    await watch.ended;
    assert.equal(watch.failure, undefined);
    assert.deepEqual(
      watch.events.map((event) => event.revision),
      [revision],
    );
    const { signal } = new AbortController();
    await rejectsWith(store.get("a/1"), "Closed");
    await rejectsWith(store.list({ prefix: "" }), "Closed");
    await rejectsWith(store.create("a/2", bytes("v")), "Closed");
    await rejectsWith(store.compact(revision), "Closed");
    assert.throws(() => store.watch({ prefix: "", after: revision, signal }), { code: "Closed" });
    await store[Symbol.asyncDispose]();
  },
};

const reopenings: Record<string, Body> = {
  "a reopened store has its records, its history and its revisions": async (place) => {
    let store = await place.open();
    const states = new Map<Revision, string>();
    let compacted: Revision = store.compactedRevision();
    for (let round = 0; round < 6; round++) {
      for (let i = 0; i < 20; i++) {
        const key = `a/${(round * 7 + i) % 13}`;
        const current = await store.get(key);
        if (current === undefined) written(await store.create(key, bytes(`c${round}.${i}`)));
        else if (i % 4 === 0) written(await store.delete(key, current.modRevision));
        else written(await store.update(key, patterned(i * 700), current.modRevision));
        states.set(store.revision(), await stateOf(store));
      }
      if (round === 3) await store.compact((compacted = (store.revision() - 30) as Revision));
      const revision = store.revision();
      const events = await eventsAfter(store, compacted);
      await store[Symbol.asyncDispose]();
      store = await place.open();
      assert.equal(store.revision(), revision);
      assert.equal(store.compactedRevision(), compacted);
      assert.deepEqual(await eventsAfter(store, compacted), events);
      for (const [at, state] of states) {
        if (at >= compacted) assert.equal(await stateOf(store, at), state);
        else await rejectsWith(store.list({ prefix: "", revision: at }), "Compacted");
      }
    }
  },

  "a deletion as the last write does not give its revision away again": async (place) => {
    let store = await place.open();
    const created = written(await store.create("a/1", bytes("v")));
    const deleted = written(await store.delete("a/1", created));
    await store.compact(deleted);
    await store[Symbol.asyncDispose]();
    store = await place.open();
    assert.equal(store.revision(), deleted);
    assert.equal(written(await store.create("a/1", bytes("v"))), deleted + 1);
  },

  "an empty store reopens empty": async (place) => {
    let store = await place.open();
    const revision = store.revision();
    await store[Symbol.asyncDispose]();
    store = await place.open();
    assert.equal(store.revision(), revision);
    assert.deepEqual(keys(await store.list({ prefix: "" })), []);
  },
};

/** A watch that is read all the time, and what it delivered. */
interface Follower {
  readonly after: Revision;
  readonly batches: readonly WatchBatch[];
  readonly events: readonly StorageEvent[];
  readonly ended: Promise<void>;
  failure: unknown;
  /** Waits for so many events, and shows them. */
  take(count: number): Promise<string[]>;
  /** Waits until the watch is complete up to a revision. */
  until(revision: Revision): Promise<void>;
  stop(): Promise<void>;
}

function follow(store: Storage, options: { prefix: string; after: Revision }): Follower {
  const stop = new AbortController();
  const batches: WatchBatch[] = [];
  const events: StorageEvent[] = [];
  let wake: (() => void)[] = [];
  const watch = store.watch({ ...options, signal: stop.signal });
  const notify = (): void => {
    const waiting = wake;
    wake = [];
    for (const resolve of waiting) resolve();
  };
  const holds = async (condition: () => boolean): Promise<void> => {
    while (!condition()) await new Promise<void>((resolve) => wake.push(resolve));
  };
  const read = async (): Promise<void> => {
    try {
      for await (const batch of watch) {
        batches.push(batch);
        events.push(...batch.events);
        notify();
      }
    } catch (error) {
      follower.failure = error;
    }
    notify();
  };
  const follower: Follower = {
    after: options.after,
    batches,
    events,
    failure: undefined,
    ended: Promise.resolve().then(read),
    async take(count) {
      await holds(() => events.length >= count);
      return events.map(described);
    },
    until: (revision) => holds(() => (batches.at(-1)?.progress ?? 0) >= revision),
    async stop() {
      stop.abort();
      await follower.ended;
    },
  };
  return follower;
}

async function eventsAfter(store: Storage, after: Revision): Promise<string[]> {
  const watch = follow(store, { prefix: "", after });
  await watch.until(store.revision());
  await watch.stop();
  return watch.events.map(described);
}

function described(event: StorageEvent): string {
  const { previous } = event;
  const was = previous === undefined ? "nothing" : `${text(previous.value)}@${previous.modRevision}`;
  return event.type === "put"
    ? `put ${event.revision} ${event.record.key}=${text(event.record.value)}, was ${was}`
    : `delete ${event.revision} ${event.key}, was ${was}`;
}

/** Waits until what was queued before is durable: groups go out in order. */
async function settled(store: Storage): Promise<void> {
  written(await store.create(`settled/${store.revision()}`, bytes("v")));
}

async function createMany(store: Storage, options: { prefix: string; count: number }): Promise<void> {
  const names = Array.from(
    { length: options.count },
    (_, i) => `${options.prefix}${String(i).padStart(5, "0")}`,
  );
  await Promise.all(names.map((name) => store.create(name, bytes("v"))));
}

async function stateOf(store: Storage, revision?: Revision): Promise<string> {
  const list = await store.list({ prefix: "", ...(revision === undefined ? {} : { revision }) });
  return list.records.map((record) => `${record.key}=${text(record.value)}`).join(" ");
}

function keys(list: { readonly records: readonly { readonly key: string }[] }): string[] {
  return list.records.map((record) => record.key);
}

function written(result: WriteResult): Revision {
  assert.equal(result.outcome, "written");
  return (result as WriteResult & { outcome: "written" }).revision;
}

async function rejectsWith(promise: Promise<unknown>, code: StorageErrorCode): Promise<void> {
  await assert.rejects(promise, { name: "StorageError", code });
}

function shown(
  record: { key: string; value: Uint8Array; modRevision: number; createRevision: number } | undefined,
): unknown {
  return record && [record.key, text(record.value), record.modRevision, record.createRevision];
}

function bytes(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

function text(value: Uint8Array | undefined): string {
  return Buffer.from(value ?? []).toString("latin1");
}

function patterned(size: number): Uint8Array {
  return Uint8Array.from({ length: size }, (_, i) => (i * 31 + size) & 0xff);
}
