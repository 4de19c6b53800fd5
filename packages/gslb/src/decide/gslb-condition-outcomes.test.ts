import assert from "node:assert/strict";
import { test } from "node:test";
import { findCondition } from "@meridian/kube";
import { host, isTrue, now, plan, view, type Given } from "../testdata/gslb-plans.ts";
import type { PeerView } from "./peer-view.ts";
import type { GslbPlan } from "./plan-gslb.ts";

test("what is missing is named: the Service, the address, the accepted host", () => {
  const messageOf = (result: GslbPlan, type: string): string =>
    findCondition(result.status.conditions, type)?.message ?? "absent";
  assert.match(
    messageOf(plan({ health: "notFound" }), "Healthy"),
    /is NotFound: there is no Service demo\/app$/,
  );
  assert.match(
    messageOf(plan({ servers: [{ host, services: [] }] }), "Healthy"),
    /is NotFound: nothing that the Gslb refers to sends its requests to a Service$/,
  );
  const exposed = { targets: { A: [], AAAA: [] }, source: "the referenced object" };
  assert.match(
    messageOf(plan({ exposed }), "Healthy"),
    /is healthy but the referenced object gives no address.*; without one, set annotation k8gb.io\/exposed-ip-addresses/,
  );
  const refused = plan({ holder: "demo/older" });
  assert.equal(messageOf(refused, "PeersReachable"), "no host is accepted, so no peer is asked");
});

test("the required status fields are there whatever is wrong", () => {
  const reference = { kind: "failed", reason: "UnsupportedKind", message: "no", gone: false } as const;
  const { status } = plan({ reference, strategy: { type: "" } });
  assert.deepEqual([status.geoTag, status.healthyRecords, status.serviceHealth], ["eu", {}, {}]);
});

test("a geoip Gslb says whether places are known, and no longer once its strategy is another", () => {
  const geoReady = (result: GslbPlan): string | undefined => {
    const condition = findCondition(result.status.conditions, "GeoReady");
    return condition && `${condition.status} ${condition.reason}`;
  };
  const strategy = { type: "geoip" };
  assert.equal(geoReady(plan({ strategy })), undefined);
  assert.equal(geoReady(plan({ geo: { isEmpty: true } })), undefined);
  assert.equal(geoReady(plan({ strategy, geo: { isEmpty: true } })), "False NoGeoData");
  assert.equal(geoReady(plan({ strategy, geo: { isEmpty: false } })), "True GeoReady");
  const problem = { reason: "DatabaseMissing", message: "it is not there" };
  const missing = plan({ strategy, geo: { isEmpty: false, problem } });
  assert.equal(geoReady(missing), "False DatabaseMissing");
  assert.equal(geoReady(plan({ strategy, status: missing.status })), "False DatabaseMissing");
  assert.equal(geoReady(plan({ status: missing.status })), undefined);
});

test("a Gslb that was just made misses its fellows in other clusters only when they had time to be made", () => {
  const views = [{ ...view("us", "fresh", "198.51.100.1"), carried: false }];
  const carried = (given: Given): readonly (string | number | undefined)[] => {
    const { status, afterMs } = plan({ views, ...given });
    return [findCondition(status.conditions, "PeersCarry")?.reason, afterMs];
  };
  assert.deepEqual(carried({ madeAtMs: now - 1_000 }), [undefined, 4_000], "and it is looked at again then");
  assert.deepEqual(carried({ madeAtMs: now - 5_000 }), ["HostNotCarried", undefined]);
  assert.deepEqual(
    carried({ madeAtMs: now + 3_600_000 }),
    ["HostNotCarried", undefined],
    "the own clock is behind",
  );
  const all = views.map((each) => ({ ...each, carried: true }));
  assert.deepEqual(carried({ madeAtMs: now, views: all }), ["PeersCarry", undefined]);
});

test("what peers told of their Gslbs is no condition any more once none of them tells, or there is none", () => {
  const tells = { ...view("us", "fresh", "198.51.100.1"), carried: false };
  const before = plan({ views: [tells] });
  assert.equal(isTrue(before, "PeersCarry"), "False HostNotCarried");
  const after = (...views: readonly PeerView[]): string =>
    isTrue(plan({ status: before.status, views }), "PeersCarry");
  assert.equal(after(view("us", "fresh", "198.51.100.1")), "absent", "it runs k8gb now, or has lost the key");
  assert.equal(after(), "absent", "it has left");
  assert.equal(isTrue(plan({ status: before.status, servers: [] }), "PeersCarry"), "absent");
  assert.equal(after(view("us", "unknown")), "False HostNotCarried", "after a start nobody has told yet");
  assert.equal(after(view("us", "unreachable")), "False HostNotCarried", "and who is silent cannot");
});
