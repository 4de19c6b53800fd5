import assert from "node:assert/strict";
import { test } from "node:test";
import { answersFrom, type ZoneAnswers } from "../testdata/zone-answers.ts";
import { conditionOf, peersKnown, serversOf, withPeers, zoneDelegation } from "../testdata/zone-samples.ts";
import { FakeProvider, openZoneWorld } from "../testdata/zone-world.ts";
import type { ZoneDelegation } from "../resources/zone-delegation.ts";

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

test("ZD status: a zone for which the name of a cluster's server would be too long is refused with the reason", async () => {
  const label = "a".repeat(54);
  const { controller, objects, settle } = openZoneWorld({
    zones: [zoneDelegation("long", `${label}.x`), zoneDelegation("short", "b.x")],
    settings: withPeers,
  });
  await settle();
  assert.deepEqual(controller.zones, ["b.x"]);
  assert.match(conditionOf(objects.get("long"), "Accepted"), /^False \w+: .*gslb-ns-eu-a{54}\.x.*63/);
});

test("ZD status: a cluster more and another address are taken up, and nothing is written where all is the same", async () => {
  const answers: ZoneAnswers = new Map(peersKnown);
  answers.delete("gslb-ns-za-a.x A");
  const { objects, settle, writes } = openZoneWorld({
    zones: [zoneDelegation("a-x", "a.x")],
    settings: { ...withPeers, ZONE_DELEGATION_RECONCILE_REQUEUE_SECONDS: "10" },
    answer: answersFrom(answers),
  });
  await settle();
  assert.equal(serversOf(objects.get("a-x")).length, 3);
  answers.set("gslb-ns-za-a.x A", ["203.0.113.1"]);
  answers.set("gslb-ns-us-a.x A", ["198.51.100.7"]);
  await settle(60_000);
  assert.deepEqual(serversOf(objects.get("a-x")), [
    "gslb-ns-eu-a.x 192.0.2.1",
    "gslb-ns-us-a.x 198.51.100.7",
    "gslb-ns-za-a.x 203.0.113.1",
  ]);
  const before = writes.length;
  await settle(600_000);
  assert.equal(writes.length, before);
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

test("addresses of a family that nobody could tell of stay as they were, the own ones too, and are told apart to the provider", async () => {
  const provider = new FakeProvider();
  const answers: ZoneAnswers = new Map([
    ["gslb-ns-us-a.x A", ["198.51.100.1"]],
    ["gslb-ns-us-a.x AAAA", ["2001:db8::1"]],
  ]);
  const { objects, own, controller, settle } = openZoneWorld({
    zones: [zoneDelegation("a-x", "a.x")],
    settings: { EXT_GSLB_CLUSTERS_GEO_TAGS: "us" },
    answer: answersFrom(answers),
    provider,
  });
  own.addresses = { addresses: ["192.0.2.1", "2001:db8::7"] };
  controller.enqueueAll();
  await settle();
  answers.set("gslb-ns-us-a.x A", ["198.51.100.2"]);
  answers.set("gslb-ns-us-a.x AAAA", "fail");
  own.addresses = { addresses: ["192.0.2.2"], unknownFamily: "AAAA" };
  controller.enqueueAll();
  await settle();
  assert.deepEqual(serversOf(objects.get("a-x")), [
    "gslb-ns-eu-a.x 192.0.2.2",
    "gslb-ns-eu-a.x 2001:db8::7",
    "gslb-ns-us-a.x 198.51.100.2",
    "gslb-ns-us-a.x 2001:db8::1",
  ]);
  const { ownAddresses, unknownFamily } = provider.delegated.get("x a.x")!;
  assert.deepEqual(
    { ownAddresses, unknownFamily },
    {
      ownAddresses: { A: ["192.0.2.2"], AAAA: [] },
      unknownFamily: "AAAA",
    },
  );
  answers.set("gslb-ns-us-a.x AAAA", []);
  own.addresses = { addresses: ["192.0.2.2"] };
  controller.enqueueAll();
  await settle();
  assert.deepEqual(serversOf(objects.get("a-x")), [
    "gslb-ns-eu-a.x 192.0.2.2",
    "gslb-ns-us-a.x 198.51.100.2",
  ]);
  assert.equal(provider.delegated.get("x a.x")?.unknownFamily, undefined);
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

test("M-02: the parent sends nobody to a cluster before it answers", async () => {
  const provider = new FakeProvider();
  const { own, controller, objects, settle } = openZoneWorld({ provider });
  own.isAnswering = false;
  objects.set("a-x", zoneDelegation("a-x", "a.x"));
  controller.enqueueAll();
  await settle();
  assert.deepEqual(controller.zones, ["a.x"]);
  assert.equal(provider.delegated.size, 0);
  own.isAnswering = true;
  controller.enqueueAll();
  await settle();
  assert.deepEqual([...provider.delegated.keys()], ["x a.x"]);
  assert.match(conditionOf(objects.get("a-x"), "Programmed"), /^True/);
});

test("a negative TTL that is none is used as the nearest, and told", async () => {
  const zone = zoneDelegation("a-x", "a.x");
  const { objects, settle, notes } = openZoneWorld({
    zones: [{ ...zone, spec: { ...zone.spec!, dnsZoneNegTTL: -5 } }],
  });
  await settle();
  assert.match(
    conditionOf(objects.get("a-x"), "Accepted"),
    /^True AcceptedWithWarnings: spec.dnsZoneNegTTL is -5/,
  );
  assert.ok(notes.some(({ type, reason }) => `${type} ${reason}` === "Warning AcceptedWithWarnings"));
});

test("a copy that lags for minutes has nobody asked many times a second, and its end is noticed", async () => {
  const provider = new FakeProvider();
  const world = openZoneWorld({ zones: [zoneDelegation("a-x", "a.x")], provider });
  world.copy.isBehind = true;
  await world.settle(300_000);
  const tries = provider.calls.length;
  assert.ok(tries > 10 && tries < 40, `${tries} tries in five minutes`);
  world.copy.isBehind = false;
  await world.settle(16_000);
  assert.match(conditionOf(world.objects.get("a-x"), "Programmed"), /^True/);
});

test("a ZoneDelegation that cannot be served is told so also where somebody else wrote it first", async () => {
  const world = openZoneWorld({ zones: [zoneDelegation("a-x", "a.elsewhere")] });
  world.copy.isBehind = true;
  await world.settle();
  world.copy.isBehind = false;
  await world.settle(5_000);
  assert.match(conditionOf(world.objects.get("a-x"), "Accepted"), /^False InvalidZone/);
});
