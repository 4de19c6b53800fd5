import assert from "node:assert/strict";
import { test } from "node:test";
import { dnsEndpointType, gslbType } from "@meridian/gslb";
import { seriesEventType, type Condition, type KubeObject } from "@meridian/kube";
import { LoopbackFleet, zoneName } from "../testdata/loopback-fleet.ts";
import type { Cluster } from "./cluster.ts";

const app = `app.${zoneName}`;
const strategy = { type: "failover", primaryGeoTag: "eu", dnsTtlSeconds: 5 };
/** So long a period that whatever comes about in time came by a push. */
const slow = { RECONCILE_REQUEUE_SECONDS: "3600" };

async function condition({ client }: Cluster, type: string): Promise<Condition | undefined> {
  const gslb = await client.get<
    KubeObject & { readonly status?: { readonly conditions?: readonly Condition[] } }
  >(gslbType, { namespace: "demo", name: "app" });
  return gslb.status?.conditions?.find((each) => each.type === type);
}

test("C-03, S-04: changes are pushed to all clusters, and one without the Gslb answers as those that have it", async () => {
  await using fleet = await LoopbackFleet.open(["eu", "us", "za"]);
  for (const tag of ["eu", "us", "za"]) await fleet.start(tag, slow);
  await fleet.shareKey();
  await fleet.apply("eu", { name: "app", strategy, targets: ["192.0.2.1", "192.0.2.2"] });
  await fleet.apply("us", { name: "app", strategy, targets: ["198.51.100.1"] });
  const everywhere = (expected: string): Promise<unknown> =>
    Promise.all(
      ["eu", "us", "za"].map((tag) =>
        fleet.until(
          () => fleet.answer(tag, app),
          (answer) => answer === expected,
        ),
      ),
    );
  await everywhere("192.0.2.1 192.0.2.2");
  const soa = await fleet.ask("za", app, "TXT");
  assert.deepEqual(
    soa.state === "answered" && [soa.outcome, soa.authoritative],
    ["nodata", true],
    "the name exists",
  );

  await fleet.setReady("eu", "app", false);
  await everywhere("198.51.100.1");
  await fleet.setReady("us", "app", false);
  await everywhere("nodata");
  await fleet.setReady("eu", "app", true);
  await everywhere("192.0.2.1 192.0.2.2");

  for (const tag of ["eu", "us"]) {
    const told = await fleet.until(
      () => condition(fleet.clusters.get(tag)!, "PeersCarry"),
      (each) => each?.status === "False",
    );
    assert.equal(told?.reason, "HostNotCarried");
    assert.match(told?.message ?? "", /^za has no Gslb for app\.cloud\.example\.com; /);
  }
  const za = fleet.clusters.get("za")!;
  const notes = await fleet.until(
    async () => {
      const { items } = await za.client.list<
        KubeObject & { readonly reason?: string; readonly note?: string }
      >(seriesEventType);
      return items.filter(({ reason }) => reason === "HostsWithoutGslb").map(({ note }) => note);
    },
    (found) => found.length > 0,
  );
  assert.match(notes[0]!, /^no Gslb here names app\.cloud\.example\.com; /);
  const kept = async (): Promise<readonly string[]> =>
    (await za.client.list(dnsEndpointType, { namespace: "k8gb" })).items
      .map(({ metadata }) => metadata.name ?? "")
      .filter((name) => name.startsWith("meridian-fleet-"));
  await fleet.until(kept, (names) => names.length === 1);

  // What one cluster answers alone is known to the others by its view, with how it balances it.
  const view = za.operator.explain(app).peers.find(({ geoTag }) => geoTag === "eu")?.views[0];
  assert.match(view?.verdict ?? "", /^2 of type A, by serial \d+ from 127\.0\.0\.1:\d+$/);

  // With a Gslb of its own it takes part, at once and everywhere.
  await fleet.apply("za", {
    name: "app",
    strategy: { ...strategy, primaryGeoTag: "za" },
    targets: ["203.0.113.1"],
  });
  await fleet.until(
    () => fleet.answer("za", app),
    (answer) => answer === "203.0.113.1",
  );
  await fleet.until(kept, (names) => names.length === 0);
  await fleet.until(
    () => condition(fleet.clusters.get("eu")!, "PeersCarry"),
    (each) => each?.status === "True",
  );
  await za.client.delete(gslbType, { namespace: "demo", name: "app" });
  await fleet.until(
    () => fleet.answer("za", app),
    (answer) => answer === "192.0.2.1 192.0.2.2",
  );
});

test("a key that comes to one cluster after the other is taken up by all at once", async () => {
  await using fleet = await LoopbackFleet.open(["eu", "us", "za"]);
  for (const tag of ["eu", "us", "za"]) await fleet.start(tag, slow);
  await fleet.apply("eu", { name: "app", strategy, targets: ["192.0.2.1"] });
  await fleet.shareKey(["eu"]);
  const told = (pattern: RegExp): Promise<unknown> =>
    fleet.until(
      () => condition(fleet.clusters.get("eu")!, "PeersCarry"),
      (each) => pattern.test(each?.message ?? ""),
    );
  // Only a peer that shares the key tells which hosts it carries.
  await fleet.shareKey(["us"]);
  await told(/^us has no Gslb for app\.cloud\.example\.com; without/);
  await fleet.shareKey(["za"]);
  await told(/^us has no Gslb for app\.cloud\.example\.com; za has no Gslb/);
});

test("S-04: a name that nobody carries any more is denied again", async () => {
  await using fleet = await LoopbackFleet.open(["eu", "za"]);
  for (const tag of ["eu", "za"]) await fleet.start(tag, slow);
  await fleet.shareKey();
  await fleet.apply("eu", { name: "app", strategy, targets: ["192.0.2.1"] });
  await fleet.until(
    () => fleet.answer("za", app),
    (answer) => answer === "192.0.2.1",
  );
  await fleet.clusters.get("eu")!.client.delete(gslbType, { namespace: "demo", name: "app" });
  await fleet.until(
    () => fleet.answer("za", app),
    (answer) => answer === "nxdomain",
  );
});
