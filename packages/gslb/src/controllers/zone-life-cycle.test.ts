import assert from "node:assert/strict";
import { test } from "node:test";
import { answersFrom, type ZoneAnswers } from "../testdata/zone-answers.ts";
import {
  conditionOf,
  finalized,
  peersKnown,
  serversOf,
  withPeers,
  zoneDelegation,
} from "../testdata/zone-samples.ts";
import { FakeProvider, openZoneWorld } from "../testdata/zone-world.ts";

/** What a parent answers that delegates to nobody. */
const undelegated = answersFrom(new Map([["x NS", ["ns.x."]]]));

test("D29: a zone is answered until its delegation is withdrawn, seen to be, and forgotten by caches", async () => {
  const provider = new FakeProvider();
  const answers: ZoneAnswers = new Map(peersKnown);
  const world = openZoneWorld({
    zones: [finalized(zoneDelegation("a-x", "a.x"))],
    settings: withPeers,
    answer: answersFrom(answers),
    provider,
  });
  const { objects, answered, settle, remove } = world;
  await settle();
  provider.waits = true;
  remove("a-x");
  await settle(100_000);
  assert.match(conditionOf(objects.get("a-x"), "Programmed"), /^False Withdrawing: fake has to take/);
  assert.deepEqual(
    answered.get("a.x"),
    ["gslb-ns-us-a.x", "gslb-ns-za-a.x"],
    "the own server has left the set",
  );

  provider.waits = false;
  await settle(100_000);
  assert.match(conditionOf(objects.get("a-x"), "Programmed"), /^False Withdrawing: x still delegates a.x/);
  answers.set("a.x NS", ["gslb-ns-us-a.x.", "gslb-ns-za-a.x."]);
  await settle(5_000);
  assert.match(conditionOf(objects.get("a-x"), "Programmed"), /^False Withdrawing: a.x is answered until/);
  assert.ok(answered.has("a.x"));
  assert.ok(objects.has("a-x"));
  await settle(31_000);
  assert.equal(objects.has("a-x"), false);
  assert.equal(answered.has("a.x"), false);
  assert.ok(provider.calls.includes("withdraw x a.x"), "others are left, so it is not the last");
});

test("D30: no other cluster is waited for, and the last one takes the delegation as a whole", async () => {
  for (const isLast of [false, true]) {
    const provider = new FakeProvider();
    const answers: ZoneAnswers = new Map([...peersKnown, ["a.x NS", ["gslb-ns-us-a.x."]]]);
    if (isLast) for (const tag of ["us", "za"]) answers.delete(`gslb-ns-${tag}-a.x A`);
    const { objects, settle, remove } = openZoneWorld({
      zones: [finalized(zoneDelegation("a-x", "a.x"))],
      settings: withPeers,
      answer: answersFrom(answers),
      provider,
    });
    await settle();
    remove("a-x");
    await settle(40_000);
    assert.equal(objects.has("a-x"), false);
    assert.equal(provider.calls.includes("withdraw x a.x last"), isLast);
  }
});

test("a peer that has IPv6 only stays where AAAA cannot be asked, and the delegation with it", async () => {
  const provider = new FakeProvider();
  const answers: ZoneAnswers = new Map([
    ["x NS", ["ns.x."]],
    ["a.x NS", ["gslb-ns-eu-a.x.", "gslb-ns-us-a.x."]],
    ["gslb-ns-us-a.x A", []],
    ["gslb-ns-us-a.x AAAA", ["2001:db8::1"]],
  ]);
  const { objects, members, answered, settle, remove } = openZoneWorld({
    zones: [finalized(zoneDelegation("a-x", "a.x"))],
    settings: { MERIDIAN_GEO_TAGS: "dynamic" },
    answer: answersFrom(answers),
    provider,
  });
  await settle();
  answers.set("gslb-ns-us-a.x AAAA", "fail");
  await settle(600_000);
  assert.deepEqual(serversOf(objects.get("a-x")), ["gslb-ns-eu-a.x 192.0.2.1", "gslb-ns-us-a.x 2001:db8::1"]);
  assert.deepEqual(members.of("a.x"), ["us"]);
  assert.deepEqual(provider.delegated.get("x a.x")?.nameServers, ["gslb-ns-eu-a.x", "gslb-ns-us-a.x"]);
  assert.deepEqual(answered.get("a.x"), ["gslb-ns-eu-a.x", "gslb-ns-us-a.x"]);
  remove("a-x");
  await settle(10_000);
  assert.deepEqual(
    provider.calls.filter((call) => call.endsWith("last")),
    [],
  );
});

test("a cluster that cannot ask for the others takes the delegation of nobody else away", async () => {
  const provider = new FakeProvider();
  const { objects, settle, remove } = openZoneWorld({
    zones: [finalized(zoneDelegation("a-x", "a.x"))],
    settings: withPeers,
    provider,
  });
  await settle();
  remove("a-x");
  // Nor can it ask for its parent, which may delegate for two minutes more, and caches keep that for half a minute.
  await settle(145_000);
  assert.ok(objects.has("a-x"));
  await settle(15_000);
  assert.equal(objects.has("a-x"), false);
  assert.ok(!provider.calls.some((call) => call.endsWith("last")));
});

test("a provider that fails keeps the object, and the zone answered, until it succeeds", async () => {
  const provider = new FakeProvider();
  const { objects, answered, settle, remove } = openZoneWorld({
    zones: [finalized(zoneDelegation("a-x", "a.x"))],
    answer: undelegated,
    provider,
  });
  await settle();
  provider.failure = new Error("the grid is down");
  remove("a-x");
  await settle(600_000);
  assert.match(conditionOf(objects.get("a-x"), "Programmed"), /^False Withdrawing: fake: the grid is down/);
  assert.ok(answered.has("a.x"));
  provider.failure = undefined;
  await settle(60_000);
  assert.equal(objects.has("a-x"), false);
});

test("D13: however long a provider failed, it is tried again after ZONE_DELEGATION_RECOVERY_SECONDS", async () => {
  const provider = new FakeProvider();
  provider.failure = new Error("no route");
  const { settle } = openZoneWorld({
    zones: [zoneDelegation("a-x", "a.x")],
    settings: { ZONE_DELEGATION_RECOVERY_SECONDS: "5" },
    provider,
  });
  await settle(7_200_000);
  const before = provider.calls.length;
  await settle(60_000);
  assert.ok(provider.calls.length - before >= 11, `${provider.calls.length - before} tries in a minute`);
  provider.failure = undefined;
  await settle(5_500);
  assert.deepEqual([...provider.delegated.keys()], ["x a.x"]);
});

test("without doFinalize the object goes at once, and the parent is left as it is", async () => {
  const provider = new FakeProvider();
  const { objects, answered, settle, remove } = openZoneWorld({
    zones: [finalized(zoneDelegation("a-x", "a.x"), false)],
    provider,
  });
  await settle();
  remove("a-x");
  await settle();
  assert.equal(objects.has("a-x"), false);
  assert.equal(answered.has("a.x"), false);
  assert.ok(provider.delegated.has("x a.x"));
});

test("D-09: an object that names another zone leaves nothing behind, also where it changed while nobody ran", async () => {
  for (const isLast of [true, false]) {
    const provider = new FakeProvider();
    const first = openZoneWorld({ zones: [finalized(zoneDelegation("z", "a.x"))], provider });
    await first.settle();
    const changed = first.objects.get("z")!;
    // Of the new zone nobody else knows yet.
    const answers: ZoneAnswers = new Map([["x NS", ["ns.x."]]]);
    if (!isLast) answers.set("gslb-ns-us-a.x A", ["198.51.100.1"]);
    const second = openZoneWorld({
      zones: [{ ...changed, spec: { ...changed.spec!, loadBalancedZone: "b.x" } }],
      settings: withPeers,
      answer: answersFrom(answers),
      provider,
    });
    await second.settle();
    assert.deepEqual([...second.answered.keys()].sort(), ["a.x", "b.x"], "the old one until it is forgotten");
    await second.settle(60_000);
    assert.deepEqual([...second.answered.keys()], ["b.x"]);
    assert.deepEqual([...provider.delegated.keys()], ["x b.x"]);
    assert.equal(provider.calls.includes("withdraw x a.x last"), isLast);
    assert.equal(second.objects.get("z")?.metadata.annotations?.["meridian/delegated"], "x:b.x");
  }
});

test("D35: a zone that gets another parent is taken out of the old one and never stops being answered", async () => {
  const provider = new FakeProvider();
  const { objects, answered, settle, change } = openZoneWorld({
    zones: [zoneDelegation("z", "a.b.x")],
    provider,
  });
  await settle();
  change("z", (zone) => ({ ...zone, spec: { ...zone.spec!, parentZone: "b.x" } }));
  await settle();
  assert.deepEqual([...provider.delegated.keys()], ["b.x a.b.x"]);
  assert.deepEqual([...answered.keys()], ["a.b.x"]);
  assert.deepEqual(serversOf(objects.get("z")), ["gslb-ns-eu-a.b.x 192.0.2.1"]);
});

test("D16: two zones whose server has one name are served side by side, and one keeps it when the other leaves", async () => {
  const provider = new FakeProvider();
  const { answered, settle, remove } = openZoneWorld({
    zones: [finalized(zoneDelegation("dots", "a.b.x")), finalized(zoneDelegation("dashes", "a-b.x"))],
    answer: undelegated,
    provider,
  });
  await settle();
  assert.deepEqual([...answered.keys()].sort(), ["a-b.x", "a.b.x"]);
  assert.equal(provider.delegated.get("x a.b.x")?.ownNameServer, "gslb-ns-eu-a-b.x");
  assert.equal(provider.delegated.get("x a-b.x")?.isNameServerShared, true);
  remove("dots");
  await settle(60_000);
  assert.deepEqual([...answered.keys()], ["a-b.x"]);
  assert.deepEqual([...provider.delegated.keys()], ["x a-b.x"]);
});

test("an object that was refused withdraws nothing of the one that holds its zone", async () => {
  const provider = new FakeProvider();
  const second = finalized(zoneDelegation("second", "a.x"));
  const { objects, answered, settle } = openZoneWorld({
    zones: [
      finalized(zoneDelegation("first", "a.x")),
      {
        ...second,
        metadata: {
          ...second.metadata,
          finalizers: ["k8gb.io/finalizer"],
          deletionTimestamp: "2026-01-01T00:00:00Z",
        },
      },
    ],
    provider,
  });
  await settle(60_000);
  assert.equal(objects.has("second"), false);
  assert.ok(answered.has("a.x"));
  assert.ok(!provider.calls.some((call) => call.startsWith("withdraw")));
});

test("an object that is made invalid says so, and what it named before is answered until it is right or gone", async () => {
  const provider = new FakeProvider();
  const { objects, answered, settle, change, remove } = openZoneWorld({
    zones: [finalized(zoneDelegation("z", "a.x"))],
    answer: undelegated,
    provider,
  });
  await settle();
  change("z", (zone) => ({ ...zone, spec: { ...zone.spec!, loadBalancedZone: "b_.-.x" } }));
  await settle(60_000);
  assert.match(conditionOf(objects.get("z"), "Accepted"), /^False InvalidZone: loadBalancedZone b_.-.x/);
  assert.deepEqual([...answered.keys()], ["a.x"]);
  assert.ok(provider.delegated.has("x a.x"));
  remove("z");
  await settle(60_000);
  assert.equal(objects.has("z"), false);
  assert.equal(provider.delegated.size, 0);
  assert.equal(answered.size, 0);
});

test("an object that another finalizer holds, after its delegation was withdrawn, is answered no more", async () => {
  const provider = new FakeProvider();
  const zone = finalized(zoneDelegation("a-x", "a.x"));
  const { objects, answered, settle, remove, writes } = openZoneWorld({
    zones: [{ ...zone, metadata: { ...zone.metadata, finalizers: ["other/one"] } }],
    answer: undelegated,
    provider,
  });
  await settle();
  remove("a-x");
  await settle(60_000);
  assert.deepEqual(objects.get("a-x")?.metadata.finalizers, ["other/one"]);
  assert.equal(answered.has("a.x"), false);
  const before = writes.length;
  await settle(3_600_000);
  assert.equal(writes.length, before);
});

test("a configured zone whose object is deleted is answered until it is made again, and under another name too", async () => {
  const provider = new FakeProvider();
  const { objects, answered, settle, remove, controller } = openZoneWorld({
    zones: [zoneDelegation("a-x", "a.x")],
    settings: { DNS_ZONES: "x:a.x:30" },
    provider,
  });
  await settle();
  remove("a-x");
  await settle();
  assert.equal(objects.has("a-x"), false);
  assert.ok(answered.has("a.x"));
  objects.set("again", zoneDelegation("again", "a.x"));
  controller.controller.enqueue("again");
  await settle();
  assert.match(conditionOf(objects.get("again"), "Accepted"), /^True/);
  assert.ok(answered.has("a.x"));
});
