import assert from "node:assert/strict";
import type { Revision } from "../storage.ts";
import { eventsAfter } from "./watch-follower.ts";
import { bytes, keys, patterned, rejectsWith, stateOf, written } from "./storage-fixtures.ts";
import type { ContractTests } from "./storage-place.ts";

/** What is promised of a store that outlives its process. */
export const reopenings: ContractTests = {
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
