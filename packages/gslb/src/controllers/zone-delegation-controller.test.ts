import assert from "node:assert/strict";
import { test } from "node:test";
import type { ZoneDelegation } from "../resources/zone-delegation.ts";
import { openZoneWorld } from "../testdata/zone-world.ts";

function zoneDelegation(name: string, loadBalancedZone: string): ZoneDelegation {
  return {
    apiVersion: "k8gb.io/v1beta1",
    kind: "ZoneDelegation",
    metadata: { name, uid: name, generation: 1 },
    spec: { loadBalancedZone, parentZone: "x", dnsZoneNegTTL: 30 },
  };
}

/** A controller of some ZoneDelegations, in a cluster that has nothing else. */
function controlled(...given: readonly ZoneDelegation[]): ReturnType<typeof openZoneWorld> {
  return openZoneWorld({ zones: given });
}

test("a ZoneDelegation that was refused for another's sake is served once that one is gone", async () => {
  const { controller, objects, settle } = controlled(
    zoneDelegation("first", "a.x"),
    zoneDelegation("second", "A.x"),
  );
  await settle();
  assert.deepEqual(controller.zones, ["a.x"]);
  assert.match(
    objects.get("second")!.status!.conditions![0]!.message,
    /served already, by ZoneDelegation first/,
  );

  objects.delete("first");
  controller.controller.enqueue("first");
  await settle();
  assert.deepEqual(controller.zones, ["A.x"]);
  assert.equal(objects.get("second")!.status!.conditions![0]!.status, "True");
});

test("a served one gets the finalizer and the own address", async () => {
  const zone = zoneDelegation("first", "a.x");
  const { objects, settle } = controlled({
    ...zone,
    metadata: { ...zone.metadata, finalizers: ["other/one"] },
  });
  await settle();
  const served = objects.get("first")!;
  assert.deepEqual(served.metadata.finalizers, ["other/one", "k8gb.io/finalizer"]);
  assert.deepEqual(served.status!.dnsServers, [{ name: "gslb-ns-eu-a.x", address: "192.0.2.1" }]);
});

test("the zone of what clusters say of themselves cannot be delegated", async () => {
  const { controller, objects, settle } = controlled(zoneDelegation("view", "_localtargets.a.x"));
  await settle();
  assert.deepEqual(controller.zones, []);
  assert.match(objects.get("view")!.status!.conditions![0]!.message, /clusters publish to each other/);
});
