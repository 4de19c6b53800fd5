import assert from "node:assert/strict";
import { test } from "node:test";
import { publishedName } from "../decide/published-host.ts";
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

test("records of types that stand for others freeze no host: it follows its Gslb, and the object's owner is told", async () => {
  const types = ["TYPE1", "TYPE5", "TYPE6", "TYPE46", "TYPE2", "TYPE39", "TYPE255", "TYPE70000", ""];
  for (const type of types) {
    const world = openFeederWorld();
    world.feeder.setZone(cloud);
    world.put("own-app", [a("app.cloud.example.com", "192.0.2.1")]);
    world.put("tenant", [
      { dnsName: "\\097pp.cloud.example.com", recordType: type, targets: ["203.0.113.66"] },
      { dnsName: "cloud.example.com", recordType: type, targets: ["203.0.113.66"] },
    ]);
    await world.simulation.run({ untilMs: 1 });
    world.put("own-app", [a("app.cloud.example.com", "192.0.2.2")]);
    await world.simulation.run({ untilMs: 2 });
    const zone = world.authority.zone("cloud.example.com")!;
    const answered = zone.recordSetsOf("app.cloud.example.com").filter(({ data }) => data.length > 0);
    assert.deepEqual(
      answered.map((set) => [set.type, set.data]),
      [["A", ["192.0.2.2"]]],
      type,
    );
    assert.ok(
      world.notes.some((note) => note.startsWith("tenant app.cloud.example.com ")),
      `${type}: ${world.notes.join("\n")}`,
    );
    assert.ok(!zone.recordSetsOf("cloud.example.com").some((set) => set.type === "DNAME"));
  }
});

test("names under which clusters tell each other their keys and hosts are nobody's, in any spelling", async () => {
  const names = [
    "_meridian-keys.cloud.example.com",
    "x._Meridian-Keys.cloud.example.com",
    "\\095meridian-keys.cloud.example.com.",
    "app._localtargets.cloud.example.com",
  ];
  const world = openFeederWorld();
  world.feeder.setZone(cloud);
  const zone = world.authority.zone("cloud.example.com")!;
  const own = "_meridian-keys.cloud.example.com";
  const published = { name: own, type: "TXT", ttl: 5, data: ['"ours"'] };
  zone.replace(new Map([[own, [published]]]));
  for (const [index, name] of names.entries()) {
    world.put(`tenant-${index}`, [{ dnsName: name, recordType: "TXT", targets: ["forged"] }]);
    world.put(`own-${index}`, [a(name, "192.0.2.1")]);
  }
  await world.simulation.run({ untilMs: 1 });
  assert.deepEqual(zone.recordSetsOf(own), [published]);
  for (const name of [names[1]!, names[3]!]) assert.deepEqual(zone.recordSetsOf(name), []);
  const told = new Set(world.notes.map((note) => note.split(" ")[0]));
  assert.deepEqual([...told].sort(), names.flatMap((_, at) => [`tenant-${at}`, `own-${at}`]).sort());
  world.put("tenant-0", undefined);
  await world.simulation.run({ untilMs: 2 });
  assert.deepEqual(zone.recordSetsOf(own), [published], "nor is it taken away with the object");
});

test("a balanced host is answered once the delegation above it is gone", async () => {
  const world = openFeederWorld();
  world.feeder.setZone(cloud);
  world.put("an-admin", [
    { dnsName: "team.cloud.example.com", recordType: "NS", targets: ["ns.example.net"] },
  ]);
  world.put("own-app", [a("app.team.cloud.example.com", "192.0.2.1")]);
  await world.simulation.run({ untilMs: 1 });
  assert.equal(dataOf(world, "cloud.example.com", "app.team.cloud.example.com"), undefined);
  world.put("an-admin", undefined);
  await world.simulation.run({ untilMs: 2 });
  assert.deepEqual(dataOf(world, "cloud.example.com", "app.team.cloud.example.com"), ["192.0.2.1"]);
});

test("the own view tells which hosts are carried, how they are balanced and where they are served, and of no others", async () => {
  const world = openFeederWorld();
  world.feeder.setZone(cloud);
  const view = (): Readonly<Record<string, readonly string[]>> => {
    const sets = [...(world.authority.zone("_localtargets.cloud.example.com")?.recordSets() ?? [])];
    const own = sets.filter(({ type }) => type !== "SOA" && type !== "NS");
    const label = (name: string): string => name.replace("._localtargets.cloud.example.com", "");
    return Object.fromEntries(
      own.map(({ name, type, ttl, data }) => [`${label(name)} ${type} ${ttl}`, data]),
    );
  };
  const policy = ['"v=1" "strategy=roundRobin"'];
  const aaaa = (dnsName: string, ...targets: readonly string[]): DnsEndpointRecord => ({
    ...a(dnsName, ...targets),
    recordType: "AAAA",
  });
  world.put("own-a", [
    a("localtargets-a.cloud.example.com", "192.0.2.1", "192.0.2.2"),
    aaaa("localtargets-a.cloud.example.com", "2001:db8::1"),
    a("a.cloud.example.com", "192.0.2.1", "198.51.100.1"),
  ]);
  world.put("own-b", [a("*.b.cloud.example.com")]);
  world.put("foreign", [a("c.cloud.example.com", "192.0.2.9")]);
  world.feeder.flush();
  assert.deepEqual(view(), {}, "not before it is opened");
  world.feeder.open();
  await world.simulation.run({ untilMs: 10 });
  assert.deepEqual(view(), {
    "a A 5": ["192.0.2.1", "192.0.2.2"],
    "a AAAA 5": ["2001:db8::1"],
    "a TXT 5": policy,
    "*.b TXT 5": policy,
  });

  // What peers answer changes the host's own records, and nothing that peers are told.
  const { serial } = world.authority.zone("_localtargets.cloud.example.com")!;
  world.put("own-b", [a("*.b.cloud.example.com", "198.51.100.7")]);
  await world.simulation.run({ untilMs: 20 });
  assert.equal(world.authority.zone("_localtargets.cloud.example.com")!.serial, serial);

  world.put("own-a", [a("a.cloud.example.com", "198.51.100.1")]);
  world.put("own-b", undefined);
  await world.simulation.run({ untilMs: 30 });
  assert.deepEqual(view(), { "a TXT 5": policy }, "carried and served nowhere");
});

test("a host for whose name the view has no room is told by its hashes, spelled out", async () => {
  const label = "x".repeat(50);
  const host = `${"y".repeat(30)}.${"z".repeat(38)}.${label}.${label}.${label}.cloud.example.com`;
  const world = openFeederWorld();
  world.feeder.setZone(cloud);
  world.feeder.open();
  world.put("own-a", [a(host, "192.0.2.1", "192.0.2.2"), a(`localtargets-${host}`, "192.0.2.1")]);
  await world.simulation.run({ untilMs: 10 });
  const name = publishedName(host, "cloud.example.com");
  const told = (): readonly (readonly string[])[] =>
    (world.authority.zone("_localtargets.cloud.example.com")?.recordSetsOf(name) ?? []).map(
      ({ type, data }) => [type, ...data],
    );
  assert.deepEqual(told(), [
    ["A", "192.0.2.1"],
    ["TXT", `"v=1" "strategy=roundRobin" "host=${host}"`],
  ]);
  // Nobody's Gslb carries it, and yet it is served here.
  world.put("own-a", [a(`localtargets-${host}`, "192.0.2.1")]);
  await world.simulation.run({ untilMs: 20 });
  assert.deepEqual(told(), [
    ["A", "192.0.2.1"],
    ["TXT", `"v=1" "host=${host}"`],
  ]);
  world.put("own-a", undefined);
  await world.simulation.run({ untilMs: 30 });
  assert.deepEqual(told(), []);
});
