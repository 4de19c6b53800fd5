import assert from "node:assert/strict";
import { test } from "node:test";
import { wildcardOver } from "./wildcard-over.ts";

const holders = new Map([
  ["*.cloud.example.com", "demo/all"],
  ["*.a.cloud.example.com", "demo/some"],
  ["*.com", "demo/outside"],
]);
const over = (host: string): string | undefined =>
  wildcardOver(host, "cloud.example.com", { holder: (name) => holders.get(name) })?.holder;

test("the wildcard next above a name covers it, and none from outside the zone does", () => {
  assert.equal(over("x.cloud.example.com"), "demo/all");
  assert.equal(over("x.y.A.cloud.example.com."), "demo/some");
  assert.equal(over("a.cloud.example.com"), "demo/all");
  assert.equal(over("cloud.example.com"), undefined);
});
