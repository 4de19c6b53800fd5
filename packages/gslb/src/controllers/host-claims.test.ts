import assert from "node:assert/strict";
import { test } from "node:test";
import { HostClaims, type HostClaim } from "./host-claims.ts";

const claim = (since: string, hosts: readonly string[], held: readonly string[] = []): HostClaim => ({
  since: `2026-01-0${since}T00:00:00Z`,
  hosts,
  held,
});

test("D46: the oldest claimant holds a host, in whatever order they come", () => {
  for (const order of [
    ["t1/new", "t2/old"],
    ["t2/old", "t1/new"],
  ]) {
    const claims = new HostClaims();
    for (const key of order) claims.set(key, claim(key === "t2/old" ? "1" : "2", ["Pay.x"]));
    assert.equal(claims.holder("pay.X"), "t2/old");
  }
});

test("whoever wins or loses a host by another's change is told", () => {
  const claims = new HostClaims();
  assert.deepEqual([...claims.set("b/g", claim("2", ["a.x", "b.x"]))], []);
  assert.deepEqual([...claims.set("a/g", claim("1", ["a.x"]))], ["b/g"]);
  assert.deepEqual([...claims.set("a/g", claim("1", ["a.x"]))], []);
  assert.deepEqual([...claims.set("c/g", claim("3", ["a.x"]))], []);
  assert.deepEqual([...claims.remove("a/g")].sort(), ["b/g", "c/g"]);
  assert.deepEqual([claims.holder("a.x"), claims.holder("b.x")], ["b/g", "b/g"]);
});

test("of two made in one second the one that holds the host keeps it; else the name decides", () => {
  const claims = new HostClaims();
  claims.set("z/g", claim("1", ["a.x"], ["a.x"]));
  claims.set("a/g", claim("1", ["a.x"]));
  assert.equal(claims.holder("a.x"), "z/g");
  const fresh = new HostClaims();
  fresh.set("z/g", claim("1", ["a.x"]));
  assert.deepEqual([...fresh.set("a/g", claim("1", ["a.x"]))], ["z/g"]);
  assert.equal(fresh.holder("a.x"), "a/g");
});

test("a host that is not named any more is given up", () => {
  const claims = new HostClaims();
  claims.set("a/g", claim("1", ["a.x", "b.x"]));
  claims.set("a/g", claim("1", ["b.x"]));
  assert.deepEqual([claims.holder("a.x"), claims.holder("b.x")], [undefined, "a/g"]);
});
