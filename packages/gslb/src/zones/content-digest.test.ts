import assert from "node:assert/strict";
import { test } from "node:test";
import type { RecordSet } from "@meridian/dns";
import { ContentDigest } from "./content-digest.ts";

const sets = (...data: readonly string[]): readonly RecordSet[] => [{ name: "a.x", type: "A", ttl: 5, data }];

function digest(...steps: readonly (readonly [string, readonly RecordSet[]])[]): string {
  const made = new ContentDigest();
  for (const [owner, content] of steps) made.set(owner, content);
  return made.text;
}

test("equal contents have equal digests, however they came about", () => {
  const direct = digest(["a.x", sets("1")], ["b.x", sets("2", "3")]);
  assert.equal(
    digest(["b.x", sets("3", "2")], ["a.x", sets("9")], ["c.x", sets("1")], ["a.x", sets("1")], ["c.x", []]),
    direct,
  );
  assert.equal(digest(["a.x", sets("1")], ["a.x", []]), digest());
});

test("other contents have other digests", () => {
  const all = [
    digest(),
    digest(["a.x", sets("1")]),
    digest(["b.x", sets("1")]),
    digest(["a.x", sets("2")]),
    digest(["a.x", sets("1", "2")]),
    digest(["a.x", sets("1").map((set) => ({ ...set, ttl: 6 }))]),
  ];
  assert.equal(new Set(all).size, all.length);
});
