import assert from "node:assert/strict";
import { test } from "node:test";
import { addressesOf, host, name, ReferenceFleet, tags, variants } from "./reference-fleet.ts";

// k8gb's older end-to-end suite: applications that stop and start in whole fleets of 2 to 8 clusters, asked at each.

/** Stops the application in one cluster after another, and starts it again. */
async function shrinkAndGrow(fleet: ReferenceFleet): Promise<void> {
  const all = fleet.tags;
  await fleet.answers(...all);
  for (const [index, tag] of all.entries()) {
    await fleet.at(tag).setReady(name, false);
    await fleet.answers(...all.slice(index + 1));
  }
  for (const [index, tag] of all.entries()) {
    await fleet.at(tag).setReady(name, true);
    await fleet.answers(...all.slice(0, index + 1));
  }
}

for (let count = 2; count <= tags.length; count += 1)
  test(`roundRobin on ${count} clusters: all answer the union, which shrinks and grows everywhere`, async () => {
    const fleet = await ReferenceFleet.open(count);
    await fleet.deploy("referenced", () => ({ type: "roundRobin" }));
    await shrinkAndGrow(fleet);
    await fleet.close();
  });

for (const variant of variants) {
  test(`${variant}: roundRobin on 2 clusters shrinks and grows`, async () => {
    const fleet = await ReferenceFleet.open(2);
    await fleet.deploy(variant, () => ({ type: "roundRobin" }));
    await shrinkAndGrow(fleet);
    await fleet.close();
  });

  test(`${variant}: failover with eu as primary, through each state of both`, async () => {
    const fleet = await ReferenceFleet.open(2);
    await fleet.deploy(variant, () => ({ type: "failover", primaryGeoTag: "eu" }));
    await fleet.answers("eu");
    for (const [tag, ready, answered] of [
      ["us", false, ["eu"]],
      ["eu", false, []],
      ["us", true, ["us"]],
      ["eu", true, ["eu"]],
    ] as const) {
      await fleet.at(tag).setReady(name, ready);
      await fleet.answers(...answered);
    }
    await fleet.close();
  });

  test(`${variant}: weights 5 and 5 are labels of both clusters' DNSEndpoints`, async () => {
    const fleet = await ReferenceFleet.open(2);
    await fleet.deploy(variant, () => ({ type: "roundRobin", weight: { eu: 5, us: 5 } }));
    const [eu, us] = ["eu", "us"].map(addressesOf);
    const expected = {
      ...{ strategy: "roundRobin", "weight-eu-0-5": eu![0], "weight-eu-1-5": eu![1] },
      ...{ "weight-us-0-5": us![0], "weight-us-1-5": us![1] },
    };
    for (const tag of fleet.tags) {
      const world = fleet.at(tag);
      await world.settle(35_000);
      const entry = (await world.endpoint(name))?.spec?.endpoints?.find(({ dnsName }) => dnsName === host);
      assert.deepEqual(entry?.labels, expected);
      assert.deepEqual(entry?.targets?.toSorted(), [...eu!, ...us!].toSorted());
    }
    await fleet.close();
  });
}

test("split failover: each cluster names itself primary and answers itself, and the other while it is down", async () => {
  const fleet = await ReferenceFleet.open(2);
  await fleet.deploy("referenced", (tag) => ({ type: "failover", primaryGeoTag: tag }));
  const eachItself = async (): Promise<void> => {
    for (const tag of fleet.tags) await fleet.answersAt(tag, tag);
  };
  await eachItself();
  await fleet.at("eu").setReady(name, false);
  await fleet.answers("us");
  await fleet.at("eu").setReady(name, true);
  await eachItself();
  await fleet.close();
});

test("D1: packets that are lost take no cluster out of any answer", async () => {
  const fleet = await ReferenceFleet.open(2);
  await fleet.deploy("referenced", () => ({ type: "failover", primaryGeoTag: "eu" }));
  await fleet.answers("eu");
  const { simulation } = fleet.at("us");
  await fleet.at("us").settle(35_000);
  const endpoint = await fleet.at("us").endpoint(name);
  const isUp = async (): Promise<string> => fleet.at("us").condition(name, "PeersReachable");
  assert.equal(await isUp(), "True PeersReachable");
  simulation.setLink("eu", "us", { loss: 0.05 });
  // In 240 rounds some twenty questions or replies are lost.
  await fleet.at("us").settle(7_200_000);
  assert.equal(await isUp(), "True PeersReachable");
  const now = await fleet.at("us").endpoint(name);
  assert.equal(now?.metadata.resourceVersion, endpoint?.metadata.resourceVersion);
  await fleet.close();
});
