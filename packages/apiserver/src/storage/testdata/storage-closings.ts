import assert from "node:assert/strict";
import { follow } from "./watch-follower.ts";
import { bytes, rejectsWith, written } from "./storage-fixtures.ts";
import type { ContractTests } from "./storage-place.ts";

/** What is promised when a store is closed. */
export const closings: ContractTests = {
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
