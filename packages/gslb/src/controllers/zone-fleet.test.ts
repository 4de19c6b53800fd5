import assert from "node:assert/strict";
import { test } from "node:test";
import { answersFrom, type ZoneAnswers } from "../testdata/zone-answers.ts";
import { peersKnown, serversOf, zoneDelegation } from "../testdata/zone-samples.ts";
import { openZoneWorld } from "../testdata/zone-world.ts";

const dynamic = { MERIDIAN_GEO_TAGS: "dynamic" };

test("Geo tag mode: clusters are discovered in the parent, those with dashes in their tags too", async () => {
  const answers: ZoneAnswers = new Map([
    ["x NS", ["ns.x."]],
    ["a.x NS", ["gslb-ns-us-test-1-a.x.", "gslb-ns-eu-test-1-a.x.", "ns.elsewhere.net."]],
    ["gslb-ns-us-test-1-a.x A", ["198.51.100.1"]],
    ["gslb-ns-eu-test-1-a.x A", ["192.0.2.9"]],
  ]);
  const { members, objects, answered, settle } = openZoneWorld({
    zones: [zoneDelegation("a-x", "a.x")],
    settings: { ...dynamic, CLUSTER_GEO_TAG: "eu-test-1" },
    answer: answersFrom(answers),
  });
  await settle();
  assert.deepEqual(members.of("a.x"), ["us-test-1"]);
  assert.deepEqual(serversOf(objects.get("a-x")), [
    "gslb-ns-eu-test-1-a.x 192.0.2.1",
    "gslb-ns-us-test-1-a.x 198.51.100.1",
  ]);
  assert.deepEqual(answered.get("a.x"), ["gslb-ns-eu-test-1-a.x", "gslb-ns-us-test-1-a.x"]);
});

test("P-07: who was found stays while nobody can be asked, over restarts too, and leaves when its address is gone", async () => {
  const answers: ZoneAnswers = new Map(peersKnown);
  const first = openZoneWorld({
    zones: [zoneDelegation("a-x", "a.x")],
    settings: dynamic,
    answer: answersFrom(answers),
  });
  await first.settle();
  assert.deepEqual(first.members.of("a.x"), ["us", "za"]);
  for (const key of answers.keys()) answers.set(key, "fail");
  for (const tag of ["us", "za"]) answers.set(`gslb-ns-${tag}-a.x AAAA`, "fail");
  await first.settle(600_000);
  const second = openZoneWorld({
    zones: [first.objects.get("a-x")!],
    settings: dynamic,
    answer: answersFrom(answers),
  });
  await second.settle();
  assert.deepEqual(second.members.of("a.x"), ["us", "za"]);
  answers.delete("gslb-ns-us-a.x A");
  answers.delete("gslb-ns-us-a.x AAAA");
  await second.settle(60_000);
  assert.deepEqual(second.members.of("a.x"), ["za"]);
});

test("P-07: a peer that knows others tells them, and one that does not know this cluster is told of it", async () => {
  const answers: ZoneAnswers = new Map([
    ["gslb-ns-us-a.x A", ["198.51.100.1"]],
    ["gslb-ns-za-a.x A", ["203.0.113.1"]],
    ["a.x NS", ["gslb-ns-us-a.x.", "gslb-ns-za-a.x."]],
  ]);
  const { members, greeted, settle } = openZoneWorld({
    zones: [zoneDelegation("a-x", "a.x")],
    settings: { ...dynamic, EXT_GSLB_CLUSTERS_GEO_TAGS: "us" },
    answer: answersFrom(answers),
  });
  await settle();
  assert.deepEqual(members.of("a.x"), ["us", "za"]);
  assert.ok(greeted.includes("198.51.100.1") && greeted.includes("203.0.113.1"));
  answers.set("a.x NS", ["gslb-ns-eu-a.x.", "gslb-ns-us-a.x.", "gslb-ns-za-a.x."]);
  await settle(60_000);
  const before = greeted.length;
  await settle(3_600_000);
  assert.equal(greeted.length, before);
});

test("Geo tag mode: a static fleet takes in nobody", async () => {
  const { members, settle } = openZoneWorld({
    zones: [zoneDelegation("a-x", "a.x")],
    settings: { EXT_GSLB_CLUSTERS_GEO_TAGS: "us" },
    answer: answersFrom(new Map(peersKnown)),
  });
  await settle(60_000);
  assert.deepEqual(members.of("a.x"), ["us"]);
});
