import assert from "node:assert/strict";
import { test } from "node:test";
import { clusterChanges } from "./cluster-change.ts";
import type { HostPlan } from "./host-plan.ts";
import type { GslbPlan } from "./plan-gslb.ts";
import { targetStatesOf } from "./target-states.ts";
import { decide, type Strategy } from "./strategy.ts";
import type { PeerView } from "./peer-view.ts";

const noAddresses = { A: [], AAAA: [] };
const failover: Strategy = { type: "failover", primaryGeoTag: "eu" };

function planned(tags: readonly string[], strategy: Strategy, { held = false } = {}): GslbPlan {
  const targets = new Map(tags.map((tag) => [tag, { A: [tag], AAAA: [] }]));
  const host = { host: "a.z", held, decision: { targets, reasons: [] } } as unknown as HostPlan;
  return { hosts: [host], policy: { policy: { strategy } } } as unknown as GslbPlan;
}

const cases: readonly (readonly [
  string,
  readonly string[],
  readonly string[],
  Strategy,
  string | undefined,
])[] = [
  ["the primary is left", ["eu"], ["us"], failover, "failover"],
  ["the primary is back", ["us"], ["eu"], failover, "failback"],
  ["another secondary", ["us"], ["za"], failover, "moved"],
  ["none is left", ["eu"], [], failover, "emptied"],
  ["one is there again", [], ["us"], failover, "revived"],
  ["one more", ["eu"], ["eu", "us"], { type: "roundRobin" }, "joined"],
  ["one fewer", ["eu", "us"], ["us"], { type: "roundRobin" }, "left"],
  ["one for another", ["eu", "us"], ["us", "za"], { type: "roundRobin" }, "moved"],
  ["the same", ["eu", "us"], ["eu", "us"], { type: "roundRobin" }, undefined],
];

for (const [name, from, to, strategy, cause] of cases)
  test(`O-02: a change of clusters has a cause of a closed set: ${name}`, () => {
    const changes = clusterChanges(planned(from, strategy), planned(to, strategy));
    assert.deepEqual(
      changes.map((change) => [change.from, change.to, change.cause]),
      cause === undefined ? [] : [[from, to, cause]],
    );
  });

test("a host that is new, or whose stored answer stands, did not change clusters", () => {
  assert.deepEqual(clusterChanges(undefined, planned(["eu"], failover)), []);
  assert.deepEqual(clusterChanges(planned(["us"], failover, { held: true }), planned(["eu"], failover)), []);
});

const view = (geoTag: string, state: PeerView["state"], ...targets: readonly string[]): PeerView => ({
  ...{ geoTag, family: "A", state, targets, verdict: state },
});
const views = [
  view("us", "fresh", "198.51.100.1", "198.51.100.2"),
  view("za", "empty"),
  view("ap", "expired", "203.0.113.1"),
  view("af", "unknown"),
];

function states(strategy: Strategy, healthy = true): readonly string[] {
  const exposed = { A: ["192.0.2.1"], AAAA: ["2001:db8::1"] };
  const decision = decide({
    ...{ strategy, self: "eu", local: { healthy, targets: healthy ? exposed : noAddresses }, peers: views },
    ...{ splitBrainThresholdSeconds: 0, now: 0 },
  });
  const host = { host: "a.z", decision, exposed, views } as unknown as HostPlan;
  const weights = strategy.type === "roundRobin" ? strategy.weight : undefined;
  return targetStatesOf(host, "eu", weights).map(
    ({ geoTag, family, state, count }) => `${geoTag} ${family} ${state} ${count}`,
  );
}

const rest = ["af A unknown 0", "af AAAA unknown 0", "ap A unreachable 0", "ap AAAA unreachable 0"];

test("O-01: each cluster's part in a host: serving, standby, unhealthy, unreachable, unknown, by family", () => {
  assert.deepEqual(states(failover), [
    ...rest,
    ...["eu A serving 1", "eu AAAA serving 1", "us A standby 2", "us AAAA standby 0"],
    ...["za A unhealthy 0", "za AAAA unhealthy 0"],
  ]);
  assert.deepEqual(states(failover, false), [
    ...rest,
    ...["eu A unhealthy 0", "eu AAAA unhealthy 0", "us A serving 2", "us AAAA serving 0"],
    ...["za A unhealthy 0", "za AAAA unhealthy 0"],
  ]);
});

test("O-01: a cluster with weight 0 beside others is drained", () => {
  assert.deepEqual(states({ type: "roundRobin", weight: { eu: 0, us: 5 } }).slice(4, 8), [
    ...["eu A drained 1", "eu AAAA drained 1", "us A serving 2", "us AAAA serving 0"],
  ]);
});
