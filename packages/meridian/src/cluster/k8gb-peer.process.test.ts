import assert from "node:assert/strict";
import { test } from "node:test";
import { K8gbPeer } from "../testdata/k8gb-peer.ts";
import { LoopbackFleet, zoneName } from "../testdata/loopback-fleet.ts";

const app = `app.${zoneName}`;
const failover = { type: "failover", primaryGeoTag: "eu", dnsTtlSeconds: 5 };
/** So long a lease that it is not renewed while a test ends it. */
const settings = { RECONCILE_REQUEUE_SECONDS: "1", MERIDIAN_LEASE_SECONDS: "3600" };

for (const [what, hasKey] of [
  ["that shares a key with others", true],
  ["without a key", false],
] as const)
  test(`14.1, 14.2, 14.6: a cluster ${what} and a k8gb read each other's local targets and decide alike`, async () => {
    await using fleet = await LoopbackFleet.open(["eu", "us"]);
    const eu = await fleet.start("eu", settings);
    if (hasKey) await fleet.shareKey();
    await using us = await K8gbPeer.open(fleet.dns.get("us")!);
    const reads = (): ReturnType<K8gbPeer["read"]> => us.read(fleet.dns.get("eu")!, app);
    us.targets.set(app, ["198.51.100.1", "198.51.100.2"]);
    await fleet.apply("eu", { name: "app", strategy: failover, targets: ["192.0.2.1", "192.0.2.2"] });

    await fleet.until(
      () => fleet.answer("eu", app),
      (answer) => answer === "192.0.2.1 192.0.2.2",
    );
    const read = await reads();
    assert.ok(read !== "silence" && read.octets <= 512);
    assert.deepEqual([read.rcode, read.targets], [0, ["192.0.2.1", "192.0.2.2"]], "its own alone");

    await fleet.setReady("eu", "app", false);
    await fleet.until(
      () => fleet.answer("eu", app),
      (answer) => answer === "198.51.100.1 198.51.100.2",
    );
    const none = await reads();
    assert.ok(none !== "silence" && (none.rcode === 3 || none.rcode === 0));
    assert.deepEqual(none.targets, [], "peers' targets are never told on");

    // It says that it serves nothing, which counts at once.
    us.targets.delete(app);
    await fleet.until(
      () => fleet.answer("eu", app),
      (answer) => answer === "nodata",
    );
    us.targets.set(app, ["198.51.100.9"]);
    await fleet.until(
      () => fleet.answer("eu", app),
      (answer) => answer === "198.51.100.9",
    );

    assert.ok(us.asked.every((question) => !question.includes("AXFR") && !question.includes("IXFR")));
    assert.ok(us.asked.includes(`localtargets-${app} A`));
    const asksForView = us.asked.some((question) => question.startsWith("_localtargets."));
    assert.equal(asksForView, hasKey, "only who could copy a view asks for one");

    // 14.2: once nobody vouches for it, a k8gb reads what it takes for nothing.
    eu.authority.lease?.renew(0);
    await fleet.setReady("eu", "app", true);
    const unvouched = await reads();
    assert.ok(unvouched !== "silence" && unvouched.targets.length === 0);
  });

test("a fleet of both kinds: who shares the key copies, and a k8gb beside them is asked host by host", async () => {
  await using fleet = await LoopbackFleet.open(["eu", "us", "za"]);
  for (const tag of ["eu", "za"]) await fleet.start(tag, settings);
  await fleet.shareKey();
  await using us = await K8gbPeer.open(fleet.dns.get("us")!);
  us.targets.set(app, ["198.51.100.1"]);
  const strategy = { type: "roundRobin", dnsTtlSeconds: 5 };
  await fleet.apply("eu", { name: "app", strategy, targets: ["192.0.2.1"] });
  await fleet.apply("za", { name: "app", strategy, targets: ["203.0.113.1"] });
  for (const tag of ["eu", "za"])
    await fleet.until(
      () => fleet.answer(tag, app),
      (answer) => answer === "192.0.2.1 198.51.100.1 203.0.113.1",
    );
  const peers = await fleet.until(
    () => fleet.clusters.get("eu")!.operator.explain(app).peers,
    (found) => found.some(({ views }) => /by serial/.test(views[0]?.verdict ?? "")),
  );
  const verdict = (tag: string): string =>
    peers.find(({ geoTag }) => geoTag === tag)?.views[0]?.verdict ?? "";
  assert.match(verdict("za"), /^1 of type A, by serial \d+ from/);
  assert.match(verdict("us"), /^1 of type A from/);
});
