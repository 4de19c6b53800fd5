import assert from "node:assert/strict";
import { test } from "node:test";
import { Simulation } from "@meridian/runtime/sim";
import { MetClusters } from "./met-clusters.ts";
import { ZoneMembers } from "./zone-members.ts";

const served = ["a.x", "b.x"];

/** Clusters that are met at the beginning of a simulation; `looks` are the moments at which zones were looked at. */
function openMeeting(areDynamic = true) {
  const simulation = new Simulation({ seed: 1 });
  const { clock } = simulation.node({ name: "eu", addresses: ["10.0.0.1"] }).runtime;
  const looks: string[] = [];
  const members = new ZoneMembers({
    ...{ geoTag: "eu", peerGeoTags: [], nameServerPrefix: "gslb-ns-", areDynamic, onChange() {} },
  });
  const met = new MetClusters(clock, {
    members,
    pair: (zone) => (served.includes(zone) ? { loadBalancedZone: zone, parentZone: "x" } : undefined),
    look: (zone) => looks.push(`${zone} at ${Math.round(simulation.nowMs)}`),
  });
  return { simulation, members, met, looks };
}

test("a flood of NOTIFYs by clusters that are made up has their zones looked at once a second, and no other", async () => {
  const { simulation, members, met, looks } = openMeeting();
  for (let index = 0; index < 2500; index += 1)
    simulation.schedule(index, () => met.meet("a.x", `gslb-ns-x${index}-a.x`));
  await simulation.run({ untilMs: 10_000 });
  assert.deepEqual(looks, ["a.x at 0", "a.x at 1000", "a.x at 2000", "a.x at 3000"]);
  assert.equal(members.candidates("a.x").length, 16);
});

test("a cluster that was not taken in is looked for whenever it says again that it is there", async () => {
  const { simulation, met, looks } = openMeeting();
  for (const at of [0, 5000, 5300]) simulation.schedule(at, () => met.meet("b.x", "gslb-ns-us-b.x"));
  await simulation.run({ untilMs: 10_000 });
  assert.deepEqual(looks, ["b.x at 0", "b.x at 5000", "b.x at 6000"]);
});

test("servers that are no cluster's, those of zones that are not served, and any where the fleet is static, are passed over", async () => {
  for (const areDynamic of [true, false]) {
    const { simulation, met, looks } = openMeeting(areDynamic);
    met.meet("a.x", "ns.elsewhere.net");
    met.meet("a.x", "gslb-ns-eu-a.x");
    met.meet("c.x", "gslb-ns-us-c.x");
    if (!areDynamic) met.meet("a.x", "gslb-ns-us-a.x");
    await simulation.run({ untilMs: 10_000 });
    assert.deepEqual(looks, []);
  }
});
