import assert from "node:assert/strict";
import { test } from "node:test";
import { Authority } from "@meridian/dns";
import { silentLogger } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import { PeerViews } from "../peers/peer-views.ts";
import { Peers } from "../peers/peers.ts";
import type { DnsEndpoint, DnsEndpointRecord } from "../resources/dns-endpoint.ts";
import { TaskScope } from "../tasks/task-scope.ts";
import { FakeObjects } from "../testdata/fake-objects.ts";
import { SerialStore } from "./serial-store.ts";
import { ZoneFeeder } from "./zone-feeder.ts";

const cloud = { loadBalancedZone: "cloud.example.com", parentZone: "example.com", negativeTtlSeconds: 20 };

interface World {
  readonly simulation: Simulation;
  readonly authority: Authority;
  readonly feeder: ZoneFeeder;
  readonly objects: Map<string, readonly DnsEndpointRecord[]>;
  readonly notes: string[];
  readonly put: (key: string, records: readonly DnsEndpointRecord[] | undefined) => void;
}

function open(): World {
  const simulation = new Simulation({ seed: 1 });
  const { runtime } = simulation.node({ name: "eu", addresses: ["10.0.0.1"] });
  const authority = new Authority({ random: runtime.random });
  const tasks = new TaskScope(silentLogger);
  const views = new PeerViews(runtime.clock, { get: () => undefined, set() {}, retain() {} }, () => {});
  const query = async (): Promise<{ readonly state: "unreachable"; readonly reason: string }> => ({
    state: "unreachable",
    reason: "nobody",
  });
  const peers = new Peers(runtime, {
    dnsClient: { query },
    views,
    tasks,
    geoTag: "eu",
    peerGeoTags: ["us"],
    nameServerPrefix: "gslb-ns-",
    deadlineMs: 1,
    periodMs: 1,
  });
  const objects = new Map<string, readonly DnsEndpointRecord[]>();
  const notes: string[] = [];
  const feeder = new ZoneFeeder(runtime, {
    authority,
    dnsClient: { notify: async () => [] },
    store: new SerialStore(new FakeObjects().client, "k8gb"),
    peers,
    events: { record: (about, { message }) => notes.push(`${about.metadata.name} ${message}`) },
    tasks,
    geoTag: "eu",
    geoTags: ["eu", "us"],
    nameServerPrefix: "gslb-ns-",
    nameServerTtlSeconds: 30,
    notify: false,
    read: (key) => {
      const records = objects.get(key);
      if (records === undefined) return undefined;
      const object: DnsEndpoint = {
        apiVersion: "externaldns.k8s.io/v1alpha1",
        kind: "DNSEndpoint",
        metadata: { namespace: "demo", name: key },
      };
      return {
        booked: { key, since: "2026-01-01T00:00:00Z", isOwn: key.startsWith("own"), records },
        object,
      };
    },
  });
  const put = (key: string, records: readonly DnsEndpointRecord[] | undefined): void => {
    if (records === undefined) objects.delete(key);
    else objects.set(key, records);
    feeder.touch(key);
  };
  return { simulation, authority, feeder, objects, notes, put };
}

const a = (dnsName: string, ...targets: readonly string[]): DnsEndpointRecord => ({
  dnsName,
  recordType: "A",
  recordTTL: 5,
  targets,
});
const dataOf = ({ authority }: World, zone: string, name: string): readonly string[] | undefined =>
  authority
    .zone(zone)
    ?.recordSetsOf(name)
    .find(({ type }) => type === "A")?.data;

test("a zone names every configured cluster's server, and answers only once it is opened", () => {
  const world = open();
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
  const world = open();
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
  const world = open();
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
  const world = open();
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
