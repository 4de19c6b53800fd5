import assert from "node:assert/strict";
import { test } from "node:test";
import type { DnsEndpointRecord } from "../resources/dns-endpoint.ts";
import { openFeederWorld, type FeederWorld } from "../testdata/feeder-world.ts";

const cloud = { loadBalancedZone: "cloud.example.com", parentZone: "example.com", negativeTtlSeconds: 20 };

const a = (dnsName: string, ...targets: readonly string[]): DnsEndpointRecord => ({
  dnsName,
  recordType: "A",
  recordTTL: 5,
  targets,
});
const dataOf = ({ authority }: FeederWorld, zone: string, name: string): readonly string[] | undefined =>
  authority
    .zone(zone)
    ?.recordSetsOf(name)
    .find(({ type }) => type === "A")?.data;

test("a zone names every configured cluster's server, and answers only once it is opened", () => {
  const world = openFeederWorld();
  world.feeder.setZone(cloud);
  const zone = world.authority.zone("cloud.example.com")!;
  assert.deepEqual(zone.nameServers, ["gslb-ns-eu-cloud.example.com", "gslb-ns-us-cloud.example.com"]);
  assert.deepEqual(
    [zone.soa.mname, zone.soa.minimum, zone.ready],
    ["gslb-ns-eu-cloud.example.com", 20, false],
  );
  world.feeder.open();
  assert.equal(zone.ready, true);
});

test("a burst of changes is one step of the serial, and no change is none", async () => {
  const world = openFeederWorld();
  world.feeder.setZone(cloud);
  const zone = world.authority.zone("cloud.example.com")!;
  const { serial } = zone;
  world.put("own-a", [a("a.cloud.example.com", "192.0.2.1")]);
  world.put("own-b", [a("b.cloud.example.com", "192.0.2.2")]);
  await world.simulation.run({ untilMs: 1 });
  assert.deepEqual(
    [zone.serial, dataOf(world, "cloud.example.com", "b.cloud.example.com")],
    [serial + 1, ["192.0.2.2"]],
  );
  world.feeder.touch("own-a");
  await world.simulation.run({ untilMs: 2 });
  assert.equal(zone.serial, serial + 1);
  world.put("own-a", undefined);
  await world.simulation.run({ untilMs: 3 });
  assert.deepEqual([zone.serial, zone.recordSetsOf("a.cloud.example.com")], [serial + 2, []]);
});

test("a name belongs to the longest zone, moves when one comes or goes, and outside all zones to none", async () => {
  const world = openFeederWorld();
  world.feeder.setZone(cloud);
  world.put("own-a", [a("a.deep.cloud.example.com", "192.0.2.1"), a("a.example.org", "192.0.2.1")]);
  await world.simulation.run({ untilMs: 1 });
  assert.deepEqual(dataOf(world, "cloud.example.com", "a.deep.cloud.example.com"), ["192.0.2.1"]);
  world.feeder.setZone({
    loadBalancedZone: "deep.cloud.example.com",
    parentZone: "cloud.example.com",
    negativeTtlSeconds: 20,
  });
  assert.deepEqual(dataOf(world, "deep.cloud.example.com", "a.deep.cloud.example.com"), ["192.0.2.1"]);
  assert.equal(dataOf(world, "cloud.example.com", "a.deep.cloud.example.com"), undefined);
  world.feeder.removeZone("deep.cloud.example.com");
  assert.equal(world.authority.zone("deep.cloud.example.com"), undefined);
  assert.deepEqual(dataOf(world, "cloud.example.com", "a.deep.cloud.example.com"), ["192.0.2.1"]);
});

test("one tenant's bad records cost only themselves, and are told once", async () => {
  const world = openFeederWorld();
  world.feeder.setZone(cloud);
  const bad: readonly DnsEndpointRecord[] = [
    a("bad.cloud.example.com", "1.2.3.4.5"),
    a("localtargets-app.cloud.example.com", "203.0.113.66"),
    { dnsName: "x.cloud.example.com", recordType: "MX", targets: ["nonsense"] },
    { dnsName: "cloud.example.com", recordType: "NS", targets: ["evil.example.net"] },
    { dnsName: "a..b.cloud.example.com", recordType: "A", targets: ["192.0.2.1"] },
    a("fine.cloud.example.com", "192.0.2.7"),
  ];
  world.put("tenant", bad);
  world.put("own-app", [
    a("app.cloud.example.com", "192.0.2.1"),
    a("localtargets-app.cloud.example.com", "192.0.2.1"),
  ]);
  await world.simulation.run({ untilMs: 1 });
  assert.deepEqual(dataOf(world, "cloud.example.com", "app.cloud.example.com"), ["192.0.2.1"]);
  assert.deepEqual(dataOf(world, "cloud.example.com", "localtargets-app.cloud.example.com"), ["192.0.2.1"]);
  assert.deepEqual(dataOf(world, "cloud.example.com", "fine.cloud.example.com"), ["192.0.2.7"]);
  assert.deepEqual(world.authority.zone("cloud.example.com")!.nameServers.length, 2);
  const told = world.notes.length;
  assert.ok(told >= 3 && world.notes.every((note) => note.startsWith("tenant ")), world.notes.join("\n"));
  world.feeder.touch("tenant");
  await world.simulation.run({ untilMs: 2 });
  assert.equal(world.notes.length, told);
});
