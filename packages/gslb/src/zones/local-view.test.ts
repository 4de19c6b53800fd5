import assert from "node:assert/strict";
import { test } from "node:test";
import { Authority, type NotifyOptions, type RecordSet, type ZoneDelta } from "@meridian/dns";
import { silentLogger } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import { TaskScope } from "../tasks/task-scope.ts";
import { FakeObjects } from "../testdata/fake-objects.ts";
import { LocalView } from "./local-view.ts";
import { SerialStore } from "./serial-store.ts";

const peers = [[{ address: "10.0.0.2", port: 53 }], [{ address: "10.0.0.3", port: 53 }], []];
const origin = "_localtargets.cloud.example.com";
const host = `app.${origin}`;
const bootSeconds = 1_767_225_600;

interface World {
  readonly simulation: Simulation;
  readonly server: FakeObjects;
  readonly authority: Authority;
  readonly view: LocalView;
  readonly told: number[];
  /** Publishes a host with these addresses, none: without it. */
  readonly say: (...addresses: readonly string[]) => Promise<void>;
  readonly settle: (ms?: number) => Promise<void>;
}

/** One replica of a cluster; replicas share the API server, and the clock where one is given. */
function open(
  server = new FakeObjects(),
  simulation = new Simulation({ seed: 1 }),
  address = "10.0.0.1",
): World {
  const { runtime } = simulation.node({ name: address, addresses: [address] });
  const authority = new Authority({ random: runtime.random });
  const told: number[] = [];
  const notify = async ({ soa }: NotifyOptions): Promise<readonly []> => {
    told.push(soa!.serial);
    return [];
  };
  const view = new LocalView(runtime, {
    zone: "cloud.example.com",
    mname: "gslb-ns-eu-cloud.example.com",
    negativeTtlSeconds: 30,
    nameServerTtlSeconds: 30,
    authority,
    dnsClient: { notify },
    store: new SerialStore(server.client, "k8gb"),
    tasks: new TaskScope(silentLogger),
    peers: () => peers.map((servers) => ({ servers, key: undefined })),
  });
  const settle = (ms = 1_000): Promise<void> => simulation.run({ untilMs: simulation.nowMs + ms });
  const say = async (...addresses: readonly string[]): Promise<void> => {
    view.set(host, addresses.length === 0 ? [] : [{ name: host, type: "A", ttl: 5, data: addresses }]);
    view.touch();
    await settle();
  };
  return { simulation, server, authority, view, told, say, settle };
}

const contentOf = ({ authority }: World): readonly string[] =>
  authority
    .zone(origin)
    ?.recordSetsOf(host)
    .flatMap(({ data }: RecordSet) => data) ?? [];

test("the first serial is the time, stored before it is served, and each peer with a server is told once", async () => {
  const world = open();
  await world.settle();
  assert.equal(world.view.serial, undefined);
  world.view.touch();
  await world.settle();
  assert.equal(world.view.serial, bootSeconds + 1);
  assert.deepEqual(world.told, [bootSeconds + 1, bootSeconds + 1]);
  assert.equal(world.authority.zone(origin)?.serial, bootSeconds + 1);
  assert.equal(world.authority.zone(origin)?.soa.mname, "gslb-ns-eu-cloud.example.com");
  assert.equal(world.server.writes, 1);
});

test("the serial moves when the content does, and not when it is only touched or set as it is", async () => {
  const world = open();
  await world.say("192.0.2.1");
  const first = world.view.serial!;
  await world.say("192.0.2.1");
  assert.deepEqual([world.view.serial, world.told.length, world.server.writes], [first, 2, 1]);
  await world.say("192.0.2.2");
  assert.ok(world.view.serial! > first);
  assert.deepEqual(
    [world.told.slice(2), contentOf(world)],
    [Array(2).fill(world.view.serial), ["192.0.2.2"]],
  );
});

test("a burst of changes is one step, from the published content to the next", async () => {
  const world = open();
  await world.say("192.0.2.1");
  const steps: ZoneDelta[] = [];
  using _observed = world.authority.zone(origin)!.observe((delta) => steps.push(delta));
  for (const label of ["a", "b", "c"])
    world.view.set(`${label}.${origin}`, [
      { name: `${label}.${origin}`, type: "A", ttl: 5, data: ["192.0.2.9"] },
    ]);
  await world.say();
  assert.equal(steps.length, 1);
  assert.deepEqual([steps[0]!.removed.length, steps[0]!.added.length], [2, 4], "each with its SOA");
});

test("a restart with equal content keeps the serial and says that it is back; other content moves it on", async () => {
  const before = open();
  await before.say("192.0.2.1");
  const serial = before.view.serial!;

  const same = open(before.server);
  await same.say("192.0.2.1");
  assert.deepEqual([same.view.serial, same.told, same.server.writes], [serial, [serial, serial], 1]);

  const other = open(before.server);
  await other.say("192.0.2.9");
  assert.ok(other.view.serial! > serial);
});

test("while the serial cannot be stored the old content is served with the old serial; for long, neither is", async () => {
  const world = open();
  await world.say("192.0.2.1");
  const serial = world.view.serial!;
  world.told.length = 0;
  world.server.failure = new Error("away");
  await world.say("192.0.2.2");
  assert.deepEqual([world.view.serial, contentOf(world), world.told], [serial, ["192.0.2.1"], []]);
  await world.settle(60_000);
  assert.equal(world.authority.zone(origin)?.ready, false, "peers then ask for each host");
  world.server.failure = undefined;
  await world.settle(30_000);
  assert.equal(world.authority.zone(origin)?.ready, true);
  assert.deepEqual([contentOf(world), world.told], [["192.0.2.2"], Array(2).fill(world.view.serial)]);
  assert.ok(world.view.serial! > serial);
});

test("of two replicas one gives a content its serial, and the other takes it over without a write", async () => {
  const simulation = new Simulation({ seed: 1 });
  const server = new FakeObjects();
  const one = open(server, simulation, "10.0.0.1");
  const two = open(server, simulation, "10.0.0.2");
  for (const addresses of [["192.0.2.1"], ["192.0.2.2"], [], ["192.0.2.1"]]) {
    const before = server.writes;
    one.view.set(host, addresses.length === 0 ? [] : [{ name: host, type: "A", ttl: 5, data: addresses }]);
    two.view.set(host, addresses.length === 0 ? [] : [{ name: host, type: "A", ttl: 5, data: addresses }]);
    one.view.touch();
    two.view.touch();
    await one.settle(5_000);
    assert.equal(one.view.serial, two.view.serial);
    assert.deepEqual([contentOf(one), contentOf(two), server.writes - before], [addresses, addresses, 1]);
  }
});

test("a replica that lags serves what it has under its old serial, and never writes it over the newer one", async () => {
  const simulation = new Simulation({ seed: 1 });
  const server = new FakeObjects();
  const one = open(server, simulation, "10.0.0.1");
  const two = open(server, simulation, "10.0.0.2");
  await one.say("192.0.2.1");
  await two.say("192.0.2.1");
  const old = two.view.serial!;
  await one.say("192.0.2.2");
  const { writes } = server;
  await two.say("192.0.2.1");
  assert.deepEqual([two.view.serial, contentOf(two), server.writes], [old, ["192.0.2.1"], writes]);
  await two.say("192.0.2.2");
  assert.deepEqual(
    [two.view.serial, contentOf(two), server.writes],
    [one.view.serial, ["192.0.2.2"], writes],
  );
});

test("an operator that takes over from another goes on with its serial", async () => {
  const simulation = new Simulation({ seed: 1 });
  const server = new FakeObjects();
  const first = open(server, simulation, "10.0.0.1");
  await first.say("192.0.2.1");
  const serial = first.view.serial!;
  first.view.close();
  const second = open(server, simulation, "10.0.0.2");
  await second.say("192.0.2.1");
  assert.equal(second.view.serial, serial);
  await second.say("192.0.2.2");
  assert.ok(second.view.serial > serial);
});

test("a store that was put back from a backup, or lost, does not take the serial back", async () => {
  const simulation = new Simulation({ seed: 1 });
  const server = new FakeObjects();
  const world = open(server, simulation, "10.0.0.1");
  await world.say("192.0.2.1");
  const backup = new Map(server.objects);
  for (const address of ["192.0.2.2", "192.0.2.3"]) await world.say(address);
  const serial = world.view.serial!;
  for (const objects of [backup, new Map()]) {
    server.objects.clear();
    for (const [key, object] of objects) server.objects.set(key, object as never);
    await world.say("192.0.2.1");
    assert.ok(world.view.serial! > serial, "the content of the backup's serial gets another one");
    assert.deepEqual(contentOf(world), ["192.0.2.1"]);
    await world.say("192.0.2.3");
  }
  // A process that knows nothing but the backup: the time is beyond every serial that was given since.
  server.objects.clear();
  for (const [key, object] of backup) server.objects.set(key, object);
  const restarted = open(server, simulation, "10.0.0.2");
  await restarted.say("192.0.2.9");
  assert.ok(restarted.view.serial! > serial);
});

test("a view that is withheld is not given away, whatever changes, until it is again", async () => {
  const world = open();
  await world.say("192.0.2.1");
  world.view.withhold(true);
  assert.equal(world.authority.zone(origin)?.ready, false);
  await world.say("192.0.2.2");
  assert.equal(world.authority.zone(origin)?.ready, false);
  world.view.withhold(false);
  assert.deepEqual([world.authority.zone(origin)?.ready, contentOf(world)], [true, ["192.0.2.2"]]);
});

test("a closed view is not served any more", async () => {
  const world = open();
  world.view.touch();
  await world.settle();
  world.view.close();
  assert.equal(world.authority.zone(origin), undefined);
});
