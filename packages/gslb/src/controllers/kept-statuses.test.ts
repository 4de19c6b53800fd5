import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "@meridian/kube";
import { KeptStatuses } from "./kept-statuses.ts";

interface Status {
  readonly shown?: string;
  readonly pruned?: string;
}

function object(uid: string, status?: Status): KubeObject & { readonly status?: Status } {
  return { apiVersion: "v1", kind: "Thing", metadata: { name: "a", uid }, ...(status && { status }) };
}

test("of a status of which the server keeps a part, the whole is known while that part is there", () => {
  const kept = new KeptStatuses<Status>();
  const wanted = { shown: "1", pruned: "2" };
  kept.set("a", wanted, object("1", { shown: "1" }));
  assert.equal(kept.of("a", object("1", { shown: "1" })), wanted);
  assert.deepEqual(kept.of("a", object("1", { shown: "somebody else's" })), { shown: "somebody else's" });
});

test("an object that was made anew has the status that it shows, though it says the same", () => {
  const kept = new KeptStatuses<Status>();
  kept.set("a", { pruned: "2" }, object("1"));
  assert.equal(kept.of("a", object("2")), undefined);
  kept.forget("a");
  assert.equal(kept.of("a", object("1")), undefined);
});
