import assert from "node:assert/strict";
import { test } from "node:test";
import type { GeoState, WatchedFile } from "@meridian/dns";
import { Simulation } from "@meridian/runtime/sim";
import type { ConfigMap } from "@meridian/kube";
import type { GeoConfig } from "../config/geo-config.ts";
import { FakeServer } from "../testdata/fake-server.ts";
import { GeoFeeder } from "./geo-feeder.ts";

const config: GeoConfig = {
  databasePath: undefined,
  fields: ["datacenter"],
  mapPath: undefined,
  configMapName: "meridian-geo-map",
  trusted: undefined,
};

function configMap(version: number, text: string): ConfigMap {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "k8gb", name: "meridian-geo-map", uid: "u", resourceVersion: String(version) },
    data: { "geo.yaml": text },
  };
}

interface World {
  readonly simulation: Simulation;
  readonly feeder: GeoFeeder;
  readonly states: GeoState[];
  readonly server: FakeServer;
  changes(): number;
  stop(): void;
}

function open(
  more: Partial<GeoConfig>,
  {
    server = new FakeServer(),
    openFile,
  }: { server?: FakeServer; openFile?: (path: string) => WatchedFile } = {},
): World {
  const simulation = new Simulation({ seed: 1 });
  const { runtime } = simulation.node({ name: "eu", addresses: ["10.0.0.1"] });
  const states: GeoState[] = [];
  let changes = 0;
  const feeder = new GeoFeeder(runtime, {
    config: { ...config, ...more },
    client: server.client,
    namespace: "k8gb",
    authority: { setGeo: (state) => void (state !== undefined && states.push(state)) },
    ...(openFile === undefined ? {} : { openFile }),
    onChange: () => changes++,
  });
  const stop = new AbortController();
  void feeder.run(stop.signal);
  return { simulation, feeder, states, server, changes: () => changes, stop: () => stop.abort() };
}

test("a map in a ConfigMap counts at once, and so does each change of it", async () => {
  const world = open({}, { server: new FakeServer(configMap(1, "networks: { 10.0.0.0/8: eu }")) });
  await world.simulation.complete(world.feeder.opened);
  assert.deepEqual(world.feeder.knowledge, { isEmpty: false });
  const before = world.states.length;
  world.server.tell(configMap(2, "networks: { 10.0.0.0/8: us }"));
  await world.simulation.run({ untilMs: 1000 });
  assert.equal(world.states.length, before + 1);
  world.server.tell(configMap(3, "networks: [10.0.0.0/8]"));
  await world.simulation.run({ untilMs: 2000 });
  assert.equal(world.states.length, before + 1);
  assert.equal(world.feeder.knowledge?.problem?.reason, "MapUnusable");
  assert.match(
    world.feeder.knowledge.problem.message,
    /ConfigMap k8gb\/meridian-geo-map cannot be used: line 1/,
  );
  world.server.tell(configMap(4, ""));
  await world.simulation.run({ untilMs: 3000 });
  assert.deepEqual(world.feeder.knowledge, { isEmpty: true });
  world.stop();
});

test("where there is no ConfigMap nothing is wrong, only nothing known", async () => {
  const world = open({});
  assert.equal(world.feeder.knowledge, undefined);
  await world.simulation.complete(world.feeder.opened);
  assert.deepEqual(world.feeder.knowledge, { isEmpty: true });
  world.stop();
});

test("a file that is missing is told, and counts once it is there", async () => {
  let text: string | undefined;
  const openFile = (path: string): WatchedFile => ({
    path,
    stamp: () => Promise.resolve(text),
    read: () => Promise.resolve(new TextEncoder().encode(text)),
  });
  const world = open({ mapPath: "/etc/geo.yaml" }, { openFile });
  await world.simulation.complete(world.feeder.opened);
  assert.equal(world.feeder.knowledge?.problem?.reason, "MapMissing");
  text = "countries: { DE: eu }";
  await world.simulation.run({ untilMs: 60_000 });
  assert.deepEqual(world.feeder.knowledge, { isEmpty: false });
  assert.equal(world.changes(), 2);
  world.stop();
});

test("a process that reads no files says so", async () => {
  const world = open({ databasePath: "/geoip.mmdb" });
  await world.simulation.complete(world.feeder.opened);
  assert.match(
    world.feeder.knowledge?.problem?.message ?? "",
    /\/geoip\.mmdb cannot be read \(this process reads no files\)/,
  );
  world.stop();
});
