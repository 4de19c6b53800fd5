import assert from "node:assert/strict";
import { test } from "node:test";
import { Authority, type NotifyOptions } from "@meridian/dns";
import { silentLogger } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import { TaskScope } from "../tasks/task-scope.ts";
import { FakeObjects } from "../testdata/fake-objects.ts";
import { LocalView } from "./local-view.ts";
import { SerialStore } from "./serial-store.ts";

const peers = [[{ address: "10.0.0.2", port: 53 }], [{ address: "10.0.0.3", port: 53 }], []];

interface World {
  readonly simulation: Simulation;
  readonly server: FakeObjects;
  readonly authority: Authority;
  readonly view: LocalView;
  readonly told: number[];
  content: string;
  readonly settle: () => Promise<void>;
}

function open(server = new FakeObjects()): World {
  const simulation = new Simulation({ seed: 1 });
  const { runtime } = simulation.node({ name: "eu", addresses: ["10.0.0.1"] });
  const authority = new Authority({ random: runtime.random });
  const told: number[] = [];
  const notify = async ({ soa }: NotifyOptions): Promise<readonly []> => {
    told.push(soa!.serial);
    return [];
  };
  const world: World = {
    ...{ simulation, server, authority, told, content: "" },
    settle: () => simulation.run({ untilMs: simulation.nowMs + 30_000 }),
    view: new LocalView(runtime, {
      zone: "cloud.example.com",
      mname: "gslb-ns-eu-cloud.example.com",
      negativeTtlSeconds: 30,
      nameServerTtlSeconds: 30,
      authority,
      dnsClient: { notify },
      store: new SerialStore(server.client, "k8gb"),
      tasks: new TaskScope(silentLogger),
      digest: () => world.content,
      peers: () => peers,
    }),
  };
  return world;
}

test("the first serial is the time, stored before it is served, and each peer with a server is told once", async () => {
  const world = open();
  await world.settle();
  assert.equal(world.view.serial, undefined);
  world.view.touch();
  await world.settle();
  assert.equal(world.view.serial, 1_767_225_630);
  assert.deepEqual(world.told, [1_767_225_630, 1_767_225_630]);
  const zone = world.authority.zone("_localtargets.cloud.example.com");
  assert.equal(zone?.serial, 1_767_225_630);
  assert.equal(zone?.soa.mname, "gslb-ns-eu-cloud.example.com");
  assert.equal(world.server.writes, 1);
});

test("the serial moves when the content does, and not when it is only touched", async () => {
  const world = open();
  world.content = "one";
  world.view.touch();
  await world.settle();
  const first = world.view.serial!;
  world.content = "one";
  world.view.touch();
  await world.settle();
  assert.deepEqual([world.view.serial, world.told.length], [first, 2]);
  world.content = "two";
  world.view.touch();
  await world.settle();
  assert.deepEqual([world.view.serial, world.told.slice(2)], [first + 1, [first + 1, first + 1]]);
});

test("a restart with equal content keeps the serial and says that it is back; other content moves it on", async () => {
  const before = open();
  before.content = "192.0.2.1";
  before.view.touch();
  await before.settle();
  const serial = before.view.serial!;

  const same = open(before.server);
  same.content = "192.0.2.1";
  same.view.touch();
  await same.settle();
  assert.deepEqual([same.view.serial, same.told, same.server.writes], [serial, [serial, serial], 1]);

  const other = open(before.server);
  other.content = "192.0.2.9";
  other.view.touch();
  await other.settle();
  assert.equal(other.view.serial, serial + 1);
});

test("while the serial cannot be stored the old one is served and nobody is told", async () => {
  const world = open();
  world.view.touch();
  await world.settle();
  const serial = world.view.serial!;
  world.told.length = 0;
  world.server.failure = new Error("away");
  world.content = "192.0.2.1";
  world.view.touch();
  await world.settle();
  assert.deepEqual([world.view.serial, world.told], [serial, []]);
  world.server.failure = undefined;
  await world.settle();
  assert.deepEqual([world.view.serial, world.told], [serial + 1, [serial + 1, serial + 1]]);
});

test("a closed view is not served any more", async () => {
  const world = open();
  world.view.touch();
  await world.settle();
  world.view.close();
  assert.equal(world.authority.zone("_localtargets.cloud.example.com"), undefined);
});
