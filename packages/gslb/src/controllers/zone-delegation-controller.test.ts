import assert from "node:assert/strict";
import { test } from "node:test";
import type { Verdict } from "@meridian/dns";
import { Simulation } from "@meridian/runtime/sim";
import { parseOperatorConfig } from "../config/operator-config.ts";
import type { ZoneDelegation } from "../resources/zone-delegation.ts";
import { ZoneDelegationController } from "./zone-delegation-controller.ts";

const config = parseOperatorConfig({ CLUSTER_GEO_TAG: "eu", EDGE_DNS_SERVERS: "192.0.2.53" }).config!;

function zoneDelegation(name: string, loadBalancedZone: string): ZoneDelegation {
  return {
    apiVersion: "k8gb.io/v1beta1",
    kind: "ZoneDelegation",
    metadata: { name, uid: name, generation: 1 },
    spec: { loadBalancedZone, parentZone: "x", dnsZoneNegTTL: 30 },
  };
}

/** A controller of some ZoneDelegations, in a cluster that has nothing else. */
function controlled(...given: readonly ZoneDelegation[]): {
  readonly controller: ZoneDelegationController;
  readonly objects: Map<string, ZoneDelegation>;
  readonly settle: () => Promise<void>;
} {
  const simulation = new Simulation({ seed: 1 });
  const { runtime } = simulation.node({ name: "eu", addresses: ["10.0.0.1"] });
  const objects = new Map(given.map((zone) => [zone.metadata.name!, zone]));
  const write = async <T>(_type: unknown, object: T): Promise<T> => {
    const zone = object as ZoneDelegation;
    objects.set(zone.metadata.name!, zone);
    return object;
  };
  const controller = new ZoneDelegationController(runtime, {
    client: { update: write, updateStatus: write },
    copies: { zones: { lister: { get: (name) => objects.get(name), list: () => [...objects.values()] } } },
    peers: { addZone() {}, removeZone() {}, setServers() {} },
    feeder: { setZone() {}, removeZone() {} },
    dnsClient: { query: async (): Promise<Verdict> => ({ state: "unreachable", reason: "no network" }) },
    events: { record() {} },
    config,
    edgeServers: [],
    ownAddresses: () => ({ addresses: ["192.0.2.1"] }),
    onZonesChanged() {},
  });
  void controller.controller.run(new AbortController().signal);
  for (const name of objects.keys()) controller.controller.enqueue(name);
  return { controller, objects, settle: () => simulation.complete(runtime.clock.sleep(1000)) };
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
