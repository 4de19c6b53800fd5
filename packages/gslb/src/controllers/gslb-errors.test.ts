import assert from "node:assert/strict";
import { test } from "node:test";
import { refusals } from "@meridian/controller/testing";
import { findCondition, ingressType, type KubeObject } from "@meridian/kube";
import type { Gslb, GslbStrategy } from "../resources/gslb.ts";
import { dnsEndpointType, gslbType } from "../resources/resource-types.ts";
import type { DnsEndpoint } from "../resources/dns-endpoint.ts";
import { endpointSlice, service } from "../testdata/foreign-objects.ts";
import { openGslbWorld, type GslbWorld } from "../testdata/gslb-world.ts";

/** A Gslb with an embedded Ingress for one host. */
function gslb(name: string, strategy: GslbStrategy): Gslb {
  return {
    ...{ apiVersion: "k8gb.io/v1beta1", kind: "Gslb", metadata: { namespace: "demo", name } },
    spec: {
      strategy,
      ingress: {
        rules: [
          {
            host: `${name}.cloud.example.com`,
            http: {
              paths: [
                { path: "/", pathType: "Prefix", backend: { service: { name, port: { number: 80 } } } },
              ],
            },
          },
        ],
      },
    },
  };
}

const accepted = ({ truth }: GslbWorld, name: string): string => {
  const stored = truth.get<Gslb>(gslbType, { namespace: "demo", name });
  const condition = findCondition(stored?.status?.conditions, "Accepted");
  return `${condition?.status} ${condition?.message ?? ""}`;
};

test("D12, D55: what is wrong with one Gslb is told on that one, and no spec is written", async () => {
  const world = openGslbWorld();
  world.truth.put(gslb("good", { type: "roundRobin" }));
  world.truth.put(gslb("bad", { type: "Invalid" }));
  world.truth.put(gslb("worse", { type: "failover", primaryGeoTag: "eu", dnsTtlSeconds: -1 }));
  await world.start();
  assert.match(accepted(world, "good"), /^True/);
  assert.match(accepted(world, "bad"), /^False spec\.strategy\.type is "Invalid"/);
  assert.match(accepted(world, "worse"), /^False spec\.strategy\.dnsTtlSeconds is -1/);
  const good = world.truth.get<Gslb>(gslbType, { namespace: "demo", name: "good" });
  assert.deepEqual(good?.spec?.strategy, { type: "roundRobin" }, "no default is filled in");
  await world.close();
});

test("D13: a Gslb that is put right is reconciled at once, however long it was wrong", async () => {
  const world = openGslbWorld();
  world.truth.put(gslb("bad", { type: "Invalid" }));
  await world.start();
  await world.clock.advance(3_600_000);
  world.takeReconciled();
  await world.clock.advance(60_000);
  assert.deepEqual(world.takeReconciled(), [], "what is wrong is not tried again and again");
  const stored = world.truth.get<Gslb>(gslbType, { namespace: "demo", name: "bad" });
  assert.ok(stored !== undefined);
  world.truth.put({ ...stored, ...{ spec: gslb("bad", { type: "roundRobin" }).spec } });
  await world.clock.advance(1_000);
  assert.match(accepted(world, "bad"), /^True/);
  await world.close();
});

test("D13: what the API server refuses is logged, and written once it takes it", async () => {
  const world = openGslbWorld();
  world.truth.put(gslb("app", { type: "roundRobin" }));
  world.box.befallRequest(
    { do: "refuse", with: refusals.broken },
    { times: 5, only: ({ method, target }) => method === "POST" && target.includes("dnsendpoints") },
  );
  await world.start();
  await world.clock.advance(60_000);
  const told = world.logged.filter(({ message }) => message === "Failed to update DNSEndpoint");
  assert.ok(told.length > 0);
  assert.ok(told.every(({ level, fields }) => level === "warn" && fields["gslb"] === "demo/app"));
  assert.match(String(told[0]!.fields["error"]), /the store is away/);
  assert.ok(world.truth.get<DnsEndpoint>(dnsEndpointType, { namespace: "demo", name: "app" }) !== undefined);
  await world.close();
});

test("an Ingress that the API server refuses is made when it takes it, also where nothing here changes", async () => {
  const world = openGslbWorld();
  world.truth.put(gslb("app", { type: "roundRobin" }));
  const forbidden = { code: 403, reason: "Forbidden", message: "admission: the host is another Ingress'" };
  world.box.befallRequest(
    { do: "refuse", with: forbidden },
    { times: 1, only: ({ method, target }) => method === "POST" && target.includes("/ingresses") },
  );
  await world.start();
  const made = (): unknown => world.truth.get(ingressType, { namespace: "demo", name: "app" });
  assert.equal(made(), undefined);
  const stored = world.truth.get<Gslb>(gslbType, { namespace: "demo", name: "app" });
  assert.match(
    findCondition(stored?.status?.conditions, "ResolvedRefs")?.message ?? "",
    /refuses the Ingress/,
  );
  await world.clock.advance(61_000);
  assert.notEqual(made(), undefined);
  await world.close();
});

test("that other clusters answer is told once, also where the API server took the DNSEndpoint at the third attempt", async () => {
  const world = openGslbWorld();
  const { metadata, ...rest } = gslb("app", { type: "roundRobin" });
  world.truth.put({
    ...rest,
    metadata: { ...metadata, annotations: { "k8gb.io/exposed-ip-addresses": "192.0.2.1" } },
  });
  world.truth.put(service("app", {}));
  world.truth.put(endpointSlice("app", 1, { a: true }));
  await world.start();
  world.reasons.length = 0;
  world.box.befallRequest(
    { do: "refuse", with: refusals.broken },
    { times: 2, only: ({ method, target }) => method === "PUT" && target.includes("dnsendpoints") },
  );
  world.truth.put(endpointSlice("app", 1, { a: false }));
  await world.clock.advance(60_000);
  assert.deepEqual(world.reasons, ["Unhealthy", "ClustersChanged"]);
  await world.close();
});

test("O-10: a DNSEndpoint of the name that is somebody else's is left alone and told of, and nothing spins", async () => {
  const world = openGslbWorld();
  const foreign = {
    ...{ apiVersion: "externaldns.k8s.io/v1alpha1", kind: "DNSEndpoint" },
    metadata: {
      ...{ namespace: "demo", name: "app" },
      ownerReferences: [{ apiVersion: "v1", kind: "Other", name: "o", uid: "u", controller: true }],
    },
    spec: { endpoints: [] },
  } as KubeObject;
  world.truth.put(foreign);
  world.truth.put(gslb("app", { type: "roundRobin" }));
  await world.start();
  world.takeReconciled();
  await world.clock.advance(3_600_000);
  assert.deepEqual(world.takeReconciled(), []);
  const stored = world.truth.get<Gslb>(gslbType, { namespace: "demo", name: "app" });
  const told = (stored?.status?.conditions ?? []).filter(({ reason }) => reason === "DNSEndpointNotOwned");
  assert.equal(told.length, 1);
  const left = world.truth.get<DnsEndpoint>(dnsEndpointType, { namespace: "demo", name: "app" });
  assert.deepEqual(left?.spec?.endpoints, []);
  await world.close();
});
