import assert from "node:assert/strict";
import type { Revision } from "../storage.ts";
import { bytes, createMany, keys, rejectsWith, stateOf, text, written } from "./storage-fixtures.ts";
import type { ContractTests } from "./storage-place.ts";

/** What is promised of lists: order, pages, and every revision as it was. */
export const lists: ContractTests = {
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
