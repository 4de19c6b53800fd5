import assert from "node:assert/strict";
import { test } from "node:test";
import type { ZoneDelegation } from "../resources/zone-delegation.ts";
import { answersFrom, type ZoneAnswers } from "../testdata/zone-answers.ts";
import { FakeProvider, openZoneWorld } from "../testdata/zone-world.ts";

function zoneDelegation(name: string, loadBalancedZone: string): ZoneDelegation {
  return {
    apiVersion: "k8gb.io/v1beta1",
    kind: "ZoneDelegation",
    metadata: { name, uid: name, generation: 1 },
    spec: { loadBalancedZone, parentZone: "x", dnsZoneNegTTL: 30 },
  };
}

/** A controller of some ZoneDelegations, in a cluster that has nothing else. */
function controlled(...given: readonly ZoneDelegation[]): ReturnType<typeof openZoneWorld> {
  return openZoneWorld({ zones: given });
}

test("a ZoneDelegation that was refused for another's sake is served once that one is gone", async () => {
  const { controller, objects, settle } = controlled(
    zoneDelegation("first", "a.x"),
    zoneDelegation("second", "A.x"),
  );
  await settle();
  assert.deepEqual(controller.zones, ["a.x"]);
  assert.match(
    objects.get("second")!.status!.conditions![0]!.message,
    /served already, by ZoneDelegation first/,
  );

  objects.delete("first");
  controller.controller.enqueue("first");
  await settle();
  assert.deepEqual(controller.zones, ["A.x"]);
  assert.equal(objects.get("second")!.status!.conditions![0]!.status, "True");
});

test("a served one gets the finalizer and the own address", async () => {
  const zone = zoneDelegation("first", "a.x");
  const { objects, settle } = controlled({
    ...zone,
    metadata: { ...zone.metadata, finalizers: ["other/one"] },
  });
  await settle();
  const served = objects.get("first")!;
  assert.deepEqual(served.metadata.finalizers, ["other/one", "k8gb.io/finalizer"]);
  assert.deepEqual(served.status!.dnsServers, [{ name: "gslb-ns-eu-a.x", address: "192.0.2.1" }]);
});

test("the zone of what clusters say of themselves cannot be delegated", async () => {
  const { controller, objects, settle } = controlled(zoneDelegation("view", "_localtargets.a.x"));
  await settle();
  assert.deepEqual(controller.zones, []);
  assert.match(objects.get("view")!.status!.conditions![0]!.message, /clusters publish to each other/);
});

const peersKnown: readonly (readonly [string, readonly string[]])[] = [
  ["x NS", ["ns.x."]],
  ["ns.x A", ["192.0.2.53"]],
  ["gslb-ns-us-a.x A", ["198.51.100.1", "198.51.100.2"]],
  ["gslb-ns-za-a.x A", ["203.0.113.1", "203.0.113.2"]],
  ["a.x NS", ["gslb-ns-eu-a.x.", "gslb-ns-us-a.x.", "gslb-ns-za-a.x."]],
];
const withPeers = { EXT_GSLB_CLUSTERS_GEO_TAGS: "us,za" };
const serversOf = (zone: ZoneDelegation | undefined): readonly string[] =>
  (zone?.status?.dnsServers ?? []).map(({ name, address }) => `${name} ${address}`);
const conditionOf = (zone: ZoneDelegation | undefined, type: string): string => {
  const found = zone?.status?.conditions?.find((each) => each.type === type);
  return `${found?.status} ${found?.reason}: ${found?.message}`;
};
const finalized = (zone: ZoneDelegation, doFinalize = true): ZoneDelegation => ({
  ...zone,
  spec: { ...zone.spec!, doFinalize },
});

test("Peers' glue, ZD status: every address of every cluster, and no write when nothing changed", async () => {
  const { objects, settle, writes } = openZoneWorld({
    zones: [zoneDelegation("a-x", "a.x")],
    settings: { ...withPeers, MERIDIAN_DNS_ADDRESSES: "192.0.2.1,192.0.2.2" },
    answer: answersFrom(new Map(peersKnown)),
  });
  await settle();
  assert.deepEqual(serversOf(objects.get("a-x")), [
    "gslb-ns-eu-a.x 192.0.2.1",
    "gslb-ns-us-a.x 198.51.100.1",
    "gslb-ns-us-a.x 198.51.100.2",
    "gslb-ns-za-a.x 203.0.113.1",
    "gslb-ns-za-a.x 203.0.113.2",
  ]);
  assert.match(conditionOf(objects.get("a-x"), "PeersReachable"), /^True PeersReachable/);
  assert.match(conditionOf(objects.get("a-x"), "Programmed"), /^True DelegatedByHand: x delegates to/);
  const before = writes.length;
  await settle(3_600_000);
  assert.equal(writes.length, before);
});

test("D3: peers that nobody can tell of stay in the status and in the delegation; those that are gone leave", async () => {
  const provider = new FakeProvider();
  const answers: ZoneAnswers = new Map(peersKnown);
  const { objects, settle, change } = openZoneWorld({
    zones: [zoneDelegation("a-x", "a.x")],
    settings: withPeers,
    answer: answersFrom(answers),
    provider,
  });
  await settle();
  const all = ["gslb-ns-eu-a.x", "gslb-ns-us-a.x", "gslb-ns-za-a.x"];
  assert.deepEqual(provider.delegated.get("x a.x")?.nameServers, all);

  for (const name of ["gslb-ns-us-a.x", "gslb-ns-za-a.x"])
    for (const type of ["A", "AAAA"]) answers.set(`${name} ${type}`, "fail");
  for (const round of [1, 2, 3]) {
    change("a-x", (zone) => ({ ...zone, spec: { ...zone.spec!, dnsZoneNegTTL: round } }));
    await settle();
  }
  assert.deepEqual(provider.delegated.get("x a.x")?.nameServers, all);
  assert.equal(serversOf(objects.get("a-x")).length, 5);

  answers.delete("gslb-ns-us-a.x A");
  answers.delete("gslb-ns-us-a.x AAAA");
  await settle(60_000);
  assert.deepEqual(provider.delegated.get("x a.x")?.nameServers, [all[0], all[2]]);
  assert.match(conditionOf(objects.get("a-x"), "PeersReachable"), /^False ServersUnknown: .*gslb-ns-us-a.x/);
});

test("Peers' glue: a peer that is silent is told in the condition and by an event, and is asked again until it answers", async () => {
  const answers: ZoneAnswers = new Map<string, readonly string[] | "fail">([
    ...peersKnown,
    ["a.x NS", "fail"],
  ]);
  const { objects, settle, notes } = openZoneWorld({
    zones: [zoneDelegation("a-x", "a.x")],
    settings: withPeers,
    answer: answersFrom(answers),
  });
  await settle();
  assert.match(conditionOf(objects.get("a-x"), "PeersReachable"), /^False PeerUnreachable: .* us, za$/);
  answers.set("a.x NS", ["gslb-ns-us-a.x."]);
  await settle(60_000);
  assert.match(conditionOf(objects.get("a-x"), "PeersReachable"), /^True/);
  assert.deepEqual(
    notes.map(({ type, reason }) => `${type} ${reason}`),
    ["Warning PeerUnreachable", "Normal PeersReachable"],
  );
});

test("events tell what k8gb's own CRD prunes, once, and it is written once", async () => {
  const provider = new FakeProvider();
  provider.failure = new Error("the API server refuses the DNSEndpoint");
  const { settle, notes, writes } = openZoneWorld({
    zones: [zoneDelegation("a-x", "a.x")],
    provider,
    keep: (status) => (status === undefined ? undefined : { dnsServers: status.dnsServers ?? [] }),
  });
  await settle(120_000);
  assert.deepEqual(
    notes.map(({ reason, message }) => `${reason}: ${message}`),
    ["ProviderFailed: fake: the API server refuses the DNSEndpoint"],
  );
  assert.equal(writes.filter((each) => each === "status a-x").length, 1);
  provider.failure = undefined;
  await settle(120_000);
  assert.deepEqual(
    notes.map(({ reason }) => reason),
    ["ProviderFailed", "Programmed"],
  );
});

test("D36: another own address is delegated at once, and an unknown one leaves what is there", async () => {
  const provider = new FakeProvider();
  const { objects, own, controller, settle } = openZoneWorld({
    zones: [zoneDelegation("a-x", "a.x")],
    provider,
  });
  await settle();
  own.addresses = { addresses: ["192.0.2.7", "2001:db8::7"] };
  controller.enqueueAll();
  await settle();
  const glue = { A: ["192.0.2.7"], AAAA: ["2001:db8::7"] };
  assert.deepEqual(provider.delegated.get("x a.x")?.ownAddresses, glue);
  own.addresses = { problem: "no Ingress is labelled" };
  controller.enqueueAll();
  await settle();
  assert.deepEqual(provider.delegated.get("x a.x")?.ownAddresses, glue);
  assert.match(
    conditionOf(objects.get("a-x"), "Programmed"),
    /^False OwnAddressUnknown: no Ingress is labelled/,
  );
  assert.deepEqual(serversOf(objects.get("a-x")), ["gslb-ns-eu-a.x 192.0.2.7", "gslb-ns-eu-a.x 2001:db8::7"]);
});

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

test("a cluster that cannot ask for the others takes the delegation of nobody else away", async () => {
  const provider = new FakeProvider();
  const { objects, settle, remove } = openZoneWorld({
    zones: [finalized(zoneDelegation("a-x", "a.x"))],
    settings: withPeers,
    provider,
  });
  await settle();
  remove("a-x");
  await settle(60_000);
  assert.equal(objects.has("a-x"), false);
  assert.ok(!provider.calls.some((call) => call.endsWith("last")));
});

test("a provider that fails keeps the object, and the zone answered, until it succeeds", async () => {
  const provider = new FakeProvider();
  const { objects, answered, settle, remove } = openZoneWorld({
    zones: [finalized(zoneDelegation("a-x", "a.x"))],
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
  const provider = new FakeProvider();
  const first = openZoneWorld({ zones: [finalized(zoneDelegation("z", "a.x"))], provider });
  await first.settle();
  const changed = first.objects.get("z")!;
  const second = openZoneWorld({
    zones: [{ ...changed, spec: { ...changed.spec!, loadBalancedZone: "b.x" } }],
    answer: answersFrom(new Map([["x NS", ["ns.x."]]])),
    provider,
  });
  await second.settle();
  assert.deepEqual([...second.answered.keys()].sort(), ["a.x", "b.x"], "the old one until it is forgotten");
  await second.settle(60_000);
  assert.deepEqual([...second.answered.keys()], ["b.x"]);
  assert.deepEqual([...provider.delegated.keys()], ["x b.x"]);
  assert.equal(second.objects.get("z")?.metadata.annotations?.["meridian/delegated"], "x:b.x");
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
  const { objects, answered, settle, remove } = openZoneWorld({
    zones: [finalized(zoneDelegation("first", "a.x")), finalized(zoneDelegation("second", "a.x"))],
    provider,
  });
  await settle();
  remove("second");
  await settle(60_000);
  assert.equal(objects.has("second"), false);
  assert.ok(answered.has("a.x"));
  assert.ok(!provider.calls.some((call) => call.startsWith("withdraw")));
});

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

test("without a provider the condition tells which records are missing in the parent", async () => {
  const answers: ZoneAnswers = new Map([["x NS", ["ns.x."]]]);
  const { objects, settle } = openZoneWorld({
    zones: [zoneDelegation("a-x", "a.x")],
    answer: answersFrom(answers),
  });
  await settle();
  assert.match(
    conditionOf(objects.get("a-x"), "Programmed"),
    /^Unknown NoProvider: .*add a.x NS gslb-ns-eu-a.x and the address of that name by hand/,
  );
});

test("an object that another finalizer holds, after its delegation was withdrawn, is answered no more", async () => {
  const provider = new FakeProvider();
  const zone = finalized(zoneDelegation("a-x", "a.x"));
  const { objects, answered, settle, remove, writes } = openZoneWorld({
    zones: [{ ...zone, metadata: { ...zone.metadata, finalizers: ["other/one"] } }],
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
