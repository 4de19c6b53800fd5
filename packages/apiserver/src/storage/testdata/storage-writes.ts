import assert from "node:assert/strict";
import type { Revision } from "../storage.ts";
import { bytes, patterned, rejectsWith, shown, text, written } from "./storage-fixtures.ts";
import type { ContractTests } from "./storage-place.ts";

/** What is promised of writes: revisions, conflicts, order and sizes. */
export const writes: ContractTests = {
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
