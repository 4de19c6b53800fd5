import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "@meridian/kube";
import { lowestFreeName, newPod, nextName, valueOf, withNextValue } from "./lab-pods.ts";
import { VersionLine } from "./version-line.ts";

const withImage = (image: string): Pod => ({
  ...newPod("web-1"),
  spec: { containers: [{ name: "web", image }] },
});

for (const [before, after] of [
  ["web:1", "web:2"],
  ["web:9", "web:10"],
  ["registry:5000/web", "registry:5000/web:1"],
  ["web", "web:1"],
  ["", ":1"],
] as const) {
  test(`the value after ${JSON.stringify(before)} is ${JSON.stringify(after)}`, () => {
    assert.equal(valueOf(withNextValue(withImage(before))), after);
  });
}

test("changing a Pod leaves everything else of it", () => {
  const pod = newPod("web-1");
  const more: Pod = {
    ...pod,
    spec: { ...pod.spec, nodeName: "n", containers: [{ name: "a", image: "a:1" }, { name: "b" }] },
  };
  assert.deepEqual(withNextValue(more), {
    ...more,
    spec: { nodeName: "n", containers: [{ name: "a", image: "a:2" }, { name: "b" }] },
  });
});

test("a new Pod takes the name after the highest", () => {
  assert.equal(nextName([]), "web-1");
  assert.equal(nextName(["web-1", "web-10", "other", "web-x"]), "web-11");
});

test("the controller fills the lowest name that is free", () => {
  assert.equal(lowestFreeName(new Set()), "web-1");
  assert.equal(lowestFreeName(new Set(["web-1", "web-3", "other"])), "web-2");
});

test("versions are counted from where the lab began, also where they are long", () => {
  const line = new VersionLine("1795972747000001");
  assert.equal(line.versionOf("1795972747000003"), 2);
  assert.equal(line.versionOf(""), 0);
  assert.equal(line.versionIfAny(""), null);
  assert.equal(line.versionIfAny("1795972747000001"), 0);
  assert.equal(new VersionLine("90071992547409930").versionOf("90071992547409931"), 1);
});
