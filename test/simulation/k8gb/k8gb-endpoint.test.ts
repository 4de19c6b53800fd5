import assert from "node:assert/strict";
import { test } from "node:test";
import type { GslbStrategySpec } from "../fleet/application.ts";
import { k8gbServers } from "./ask-as-k8gb.ts";
import { k8gbEndpoints, k8gbTargets } from "./k8gb-endpoint.ts";
import { k8gbNameServer, k8gbTagOf, k8gbZoneOf } from "./k8gb-names.ts";

const own = ["192.0.2.1", "192.0.2.2"];
const us = ["198.51.100.1", "198.51.100.2"];
const za = ["203.0.113.1", "203.0.113.2", "203.0.113.3"];
const roundRobin: GslbStrategySpec = { type: "roundRobin" };
const failover = (primaryGeoTag: string): GslbStrategySpec => ({ type: "failover", primaryGeoTag });

/** The strategy, whether eu is healthy, the peers that it sees, and whom it answers. */
const table: readonly (readonly [GslbStrategySpec, boolean, Record<string, readonly string[]>, string])[] = [
  [roundRobin, true, {}, "eu"],
  [roundRobin, false, {}, ""],
  [roundRobin, true, { us, za }, "eu us za"],
  [{ type: "geoip" }, false, { us }, "us"],
  [failover("eu"), true, { us, za }, "eu"],
  [failover("eu"), false, { us, za }, "us za"],
  [failover("eu"), false, {}, ""],
  [failover("us"), true, { us, za }, "us"],
  [failover("us"), false, { us, za }, "us"],
  [failover("us"), true, { za }, "eu za"],
  [failover("us"), false, { za }, "za"],
  [failover("us"), true, {}, "eu"],
  [failover(""), true, { us }, "eu us"],
];

for (const [strategy, healthy, peers, expected] of table)
  test(`eu ${healthy ? "healthy" : "unhealthy"} with ${JSON.stringify(strategy)} and peers ${Object.keys(peers).join()} answers ${expected || "nothing"}`, () => {
    const picked = k8gbTargets({ strategy, tag: "eu", healthy, own, peers: new Map(Object.entries(peers)) });
    assert.equal([...picked.keys()].join(" "), expected);
  });

test("weights make one label for each address of a cluster that has one", () => {
  const strategy = { type: "roundRobin", weight: { eu: 35, us: 50, za: 15 } };
  const peers = new Map([
    ["us", us],
    ["za", za],
  ]);
  const [local, host] = k8gbEndpoints({
    host: "app.cloud.example.com",
    strategy,
    tag: "eu",
    healthy: true,
    own,
    peers,
  });
  assert.deepEqual(local?.labels, {});
  assert.equal(local?.dnsName, "localtargets-app.cloud.example.com");
  assert.equal(host?.recordTtlSeconds, 30);
  assert.deepEqual(Object.keys(host?.labels ?? {}).sort(), [
    "strategy",
    "weight-eu-0-35",
    "weight-eu-1-35",
    "weight-us-0-50",
    "weight-us-1-50",
    "weight-za-0-15",
    "weight-za-1-15",
    "weight-za-2-15",
  ]);
});

test("a host that nobody serves has no entry", () => {
  const of = { host: "app.cloud.example.com", strategy: roundRobin, tag: "eu", healthy: false, own };
  assert.deepEqual(k8gbEndpoints({ ...of, peers: new Map() }), []);
});

test("name servers are named with dashes for dots, and zones are looked for anywhere in a host", () => {
  const zone = { name: "k8gb-test.gslb.cloud.example.com", parent: "cloud.example.com" };
  assert.equal(k8gbNameServer(zone, "us"), "gslb-ns-us-k8gb-test-gslb.cloud.example.com");
  assert.equal(k8gbTagOf(zone, "gslb-ns-us-east-1-k8gb-test-gslb.cloud.example.com"), "us-east-1");
  const cloud = { name: "cloud.example.com", parent: "example.com" };
  assert.equal(k8gbZoneOf("app.mycloud.example.com", [cloud]), cloud);
  assert.equal(k8gbZoneOf("app.example.org", [cloud]), undefined);
});

test("a peer is asked at the first edge server's port, at those that are not 53, then at 53", () => {
  const ports = (...edge: number[]): readonly number[] =>
    k8gbServers("192.0.2.1", edge).map(({ port }) => port);
  assert.deepEqual(ports(53), [53]);
  assert.deepEqual(ports(1053), [1053, 1053, 53]);
  assert.deepEqual(ports(53, 1053), [53, 1053]);
});
