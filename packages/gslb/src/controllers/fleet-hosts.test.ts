import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "@meridian/kube";
import { silentLogger } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import { PeerViews } from "../peers/peer-views.ts";
import { ViewCopy } from "../peers/view-copy.ts";
import type { DnsEndpoint } from "../resources/dns-endpoint.ts";
import { TaskScope } from "../tasks/task-scope.ts";
import { FakeObjects } from "../testdata/fake-objects.ts";
import { FleetHosts } from "./fleet-hosts.ts";

const zone = "cloud.example.com";
const app = `app.${zone}`;
const failover = '"v=1" "strategy=failover" "primary=us" "threshold=60"';

/** A peer as far as its copied view goes. */
class FakeSession {
  readonly geoTag: string;
  copy = new ViewCopy(zone);
  isCarriageKnown = false;
  #serial = 0;

  constructor(geoTag: string) {
    this.geoTag = geoTag;
  }

  /** Carries these hosts with these policies from now on. */
  tell(hosts: Readonly<Record<string, string>>): void {
    this.isCarriageKnown = true;
    this.copy.apply({
      kind: "whole",
      server: { address: "10.0.0.2", port: 53 },
      soa: {
        mname: "n.",
        rname: "h.",
        serial: ++this.#serial,
        refresh: 1,
        retry: 1,
        expire: 1,
        minimum: 1,
        ttl: 1,
      },
      sets: Object.entries(hosts).map(([label, text]) => ({
        ...{ name: `${label}._localtargets.${zone}`, type: "TXT", ttl: 5, data: [text] },
      })),
    });
  }
}

interface World {
  readonly zones: string[];
  readonly hosts: FleetHosts;
  readonly sessions: readonly [FakeSession, FakeSession];
  readonly views: PeerViews;
  readonly asked: Set<string>;
  readonly thresholds: Map<string, number>;
  readonly notes: string[];
  readonly touched: Set<string>;
  /** What is answered for a host. */
  readonly answer: (host?: string) => string;
  readonly pass: (ms?: number) => Promise<void>;
}

/** @param spelled the zone as its object spells it */
function open(server = new FakeObjects(), spelled = zone): World {
  const simulation = new Simulation({ seed: 1 });
  const { runtime } = simulation.node({ name: "za", addresses: ["10.0.0.1"] });
  const sessions = [new FakeSession("us"), new FakeSession("eu")] as const;
  const asked = new Set<string>();
  const thresholds = new Map<string, number>();
  const notes: string[] = [];
  const touched = new Set<string>();
  const views = new PeerViews(runtime.clock, { get: () => undefined, set() {}, retain() {} }, (host) =>
    hosts.touchHost(host),
  );
  views.setPeers(zone, ["eu", "us"]);
  const stored = (): readonly DnsEndpoint[] =>
    [...server.objects].flatMap(([key, object]) => (key.startsWith("dnsendpoints ") ? [object] : []));
  const zones = [spelled];
  const tasks = new TaskScope(silentLogger);
  const hosts: FleetHosts = new FleetHosts(runtime, {
    ...{ client: server.client, namespace: "k8gb", geoTag: "za", views, tasks },
    isWriting: () => true,
    peers: {
      addHost(host, thresholdSeconds) {
        asked.add(host);
        thresholds.set(host, thresholdSeconds);
        views.add(host, { zone, thresholdSeconds });
      },
      removeHost(host) {
        asked.delete(host);
        views.remove(host);
      },
      sessions: () => sessions as never,
    },
    endpoints: {
      get: (key) => stored().find(({ metadata }) => `${metadata.namespace}/${metadata.name}` === key),
      list: stored,
    },
    zones: () => zones,
    zoneObject: () => ({ apiVersion: "k8gb.io/v1beta1", kind: "ZoneDelegation", metadata: { name: "z" } }),
    events: { record: (_about: KubeObject, { message }) => notes.push(message) },
    onRecords: (key) => touched.add(key),
  });
  tasks.start("fleet hosts", (signal) => hosts.controller.run(signal));
  const answer = (host = app): string => {
    const keys = new Set([...touched, ...stored().map(({ metadata }) => `k8gb/${metadata.name}`)]);
    const records = [...keys].flatMap((key) => {
      const found = hosts.read(key);
      return found === undefined || found === "none" ? [] : found.booked.records;
    });
    const own = records.filter(({ dnsName }) => dnsName === host);
    return own.length === 0 ? "denied" : own.flatMap(({ targets }) => targets ?? []).join(" ") || "nothing";
  };
  const pass = (ms = 1_000): Promise<void> => simulation.run({ untilMs: simulation.nowMs + ms });
  return { zones, hosts, sessions, views, asked, thresholds, notes, touched, answer, pass };
}

let order = 0;
function serve({ views }: World, geoTag: string, ...targets: readonly string[]): void {
  for (const family of ["A", "AAAA"] as const) {
    const own = targets.filter((target) => target.includes(":") === (family === "AAAA"));
    const answer = { kind: "answered", targets: own, verdict: "", carried: true } as const;
    views.record({ zone, geoTag, host: app, family }, answer, ++order);
  }
}

/** A world in which a peer carries the host, and serves it. */
async function openServed(): Promise<World> {
  const world = open();
  world.sessions[0].tell({ app: failover });
  world.hosts.touchZone(zone);
  await world.pass();
  serve(world, "us", "198.51.100.1");
  return world;
}

test("S-04: a host that peers carry is asked for and answered as they balance it, and told of once", async () => {
  const world = open();
  const [us, eu] = world.sessions;
  us.tell({ app: failover });
  eu.tell({ app: failover });
  world.hosts.touchZone(zone);
  await world.pass();
  assert.deepEqual([...world.asked], [app]);
  serve(world, "eu", "192.0.2.1");
  await world.pass(0);
  assert.equal(world.answer(), "192.0.2.1", "known without waiting for the API server");
  serve(world, "us", "198.51.100.1");
  await world.pass(0);
  assert.equal(world.answer(), "198.51.100.1");
  serve(world, "us");
  serve(world, "eu");
  await world.pass(0);
  assert.equal(world.answer(), "nothing", "it exists");
  await world.pass();
  world.hosts.touchZone(zone);
  await world.pass();
  assert.equal(world.notes.length, 1);
});

test("of two ways to balance a host that of the first geo tag counts, in whichever order they are heard", async () => {
  const world = open();
  const [us, eu] = world.sessions;
  for (const [session, text] of [
    [us, '"v=1" "strategy=roundRobin"'],
    [eu, failover],
  ] as const) {
    session.tell({ app: text });
    world.hosts.touchZone(zone);
    await world.pass();
  }
  serve(world, "eu", "192.0.2.1");
  serve(world, "us", "198.51.100.1");
  await world.pass(0);
  assert.equal(world.answer(), "198.51.100.1");
});

test("what all peers say at once of a host, in both families, is planned once", async () => {
  const world = open();
  world.sessions[0].tell({ app: failover });
  world.hosts.touchZone(zone);
  await world.pass();
  let plans = 0;
  const of = world.views.of.bind(world.views);
  world.views.of = (host) => {
    plans += 1;
    return of(host);
  };
  serve(world, "eu", "192.0.2.1", "2001:db8::1");
  serve(world, "us", "198.51.100.1", "2001:db8::2");
  await world.pass(0);
  assert.equal(plans, 1);
  serve(world, "us");
  await world.pass(0);
  assert.equal(plans, 2);
});

test("a host of a Gslb here is that one's, and the fleet's again when that is gone", async () => {
  const world = open();
  world.sessions[0].tell({ app: failover });
  world.hosts.addHost(app, 0);
  world.hosts.touchZone(zone);
  await world.pass();
  assert.deepEqual([world.answer(), world.hosts.has(app)], ["denied", false]);
  serve(world, "us", "198.51.100.1");
  world.hosts.removeHost(app);
  assert.deepEqual(
    [world.answer(), world.hosts.has(app), world.asked.has(app)],
    ["198.51.100.1", true, true],
  );
  world.sessions[0].tell({});
  world.sessions[1].tell({});
  world.hosts.touchZone(zone);
  await world.pass();
  assert.deepEqual([world.answer(), world.asked.has(app)], ["denied", false]);
});

test("a host whose zone is served apart from now on stands in one DNSEndpoint only", async () => {
  const world = open();
  const host = `app.sub.${zone}`;
  world.sessions[0].tell({ "app.sub": failover });
  world.hosts.touchZone(zone);
  await world.pass();
  world.zones.push(`sub.${zone}`);
  world.hosts.touchAll();
  await world.pass();
  const giving = [...world.touched].filter((key) => world.hosts.read(key) !== "none");
  assert.equal(giving.length, 1);
  assert.equal(world.answer(host), "nothing");
});

test("a Gslb takes a host over without a moment in which it is denied", async () => {
  const world = await openServed();
  world.hosts.addHost(app, 0);
  world.hosts.touchZone(zone);
  await world.pass(5_000);
  assert.equal(world.answer(), "198.51.100.1", "its DNSEndpoint is not there yet");
  const given = (kind: string): DnsEndpoint => ({
    ...{ apiVersion: "externaldns.k8s.io/v1alpha1", kind: "DNSEndpoint" },
    metadata: {
      ...{ namespace: "demo", name: "app" },
      ownerReferences: [{ apiVersion: "k8gb.io/v1beta1", kind, name: "app", uid: "1", controller: true }],
    },
    spec: { endpoints: [{ dnsName: app.toUpperCase(), recordType: "A", targets: [] }] },
  });
  world.hosts.touchEndpoint(given("Other"));
  assert.equal(world.answer(), "198.51.100.1");
  world.hosts.touchEndpoint(given("Gslb"));
  assert.deepEqual([world.answer(), world.asked.has(app)], ["denied", true]);
});

test("a host is not the fleet's for ever where its Gslb gets no DNSEndpoint, nor when that Gslb goes and no peer carries it", async () => {
  for (const isGone of [false, true]) {
    const world = await openServed();
    world.hosts.addHost(app, 0);
    world.sessions[0].tell({});
    world.sessions[1].tell({});
    if (isGone) world.hosts.removeHost(app);
    await world.pass(isGone ? 0 : 31_000);
    assert.deepEqual([world.answer(), world.asked.has(app)], ["denied", !isGone]);
  }
});

/** After so long what peers say is stored, too. */
const storedMs = 3_000;

test("after a restart what was stored is answered before anybody was heard, and a host goes only when all were", async () => {
  const server = new FakeObjects();
  const before = open(server);
  before.sessions[0].tell({ app: failover });
  before.hosts.touchZone(zone);
  await before.pass();
  serve(before, "us", "198.51.100.1");
  await before.pass(storedMs);
  assert.equal([...server.objects.keys()].filter((key) => key.includes("meridian-fleet-")).length, 1);

  const after = open(server, "Cloud.Example.com");
  after.hosts.load();
  assert.equal(after.answer(), "198.51.100.1");
  assert.deepEqual(after.thresholds.get(app), 60, "as us last told");
  after.sessions[1].tell({});
  after.hosts.touchZone(zone);
  await after.pass();
  assert.equal(after.answer(), "198.51.100.1", "us was not heard yet, and may carry it");
  after.sessions[0].tell({});
  after.hosts.touchZone(zone);
  await after.pass(storedMs);
  assert.equal(after.answer(), "denied");
  assert.equal([...server.objects.keys()].filter((key) => key.includes("meridian-fleet-")).length, 0);
});

test("an API server that takes no writes delays no answer, and is written to when it does", async () => {
  const server = new FakeObjects();
  const world = open(server);
  server.failure = new Error("away");
  world.sessions[0].tell({ app: failover });
  world.hosts.touchZone(zone);
  await world.pass();
  serve(world, "us", "198.51.100.1");
  await world.pass(0);
  assert.equal(world.answer(), "198.51.100.1");
  server.failure = undefined;
  await world.pass(60_000);
  assert.equal(server.writes, 1);
});

test("names that no host may have, or that are another zone's, are not taken over from a peer", async () => {
  const world = open();
  world.sessions[0].tell({ "localtargets-app": failover, "bad name": failover });
  world.hosts.touchZone(zone);
  await world.pass();
  assert.deepEqual([...world.asked], []);
});
