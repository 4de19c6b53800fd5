import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gslbType } from "@meridian/gslb";
import { namespaceType } from "@meridian/kube";
import { assertServed, foreignType, ReferenceWorld, zone } from "./reference-world.ts";

// F-05, the corners of the Gateway API, told to one whole cluster: a route counts as far as something serves it.

const gatewayApi = "gateway.networking.k8s.io";
const gateways = foreignType(gatewayApi, "v1", "Gateway");
const httpRoutes = foreignType(gatewayApi, "v1", "HTTPRoute");
const referenceGrants = foreignType(gatewayApi, "v1beta1", "ReferenceGrant");
const address = "192.0.2.1";
const hostOf = (name: string): string => `${name}.${zone}`;

let world: ReferenceWorld;

before(async () => {
  world = await ReferenceWorld.open();
  for (const type of [gateways, httpRoutes, referenceGrants]) await world.define(type);
  const listeners = [{ name: "web", port: 80, protocol: "HTTP", hostname: `*.${zone}` }];
  for (const [name, value] of [
    ["edge", address],
    ["other", "192.0.2.2"],
  ]) {
    await world.create(gateways, name!, { spec: { gatewayClassName: "x", listeners } });
    await programmed(name!, value!, "True");
  }
});
after(() => world.close());

const programmed = (name: string, value: string, status: string): Promise<void> =>
  world.patchStatus(gateways, name, {
    addresses: [{ type: "IPAddress", value }],
    conditions: [condition("Programmed", status)],
  });

function condition(type: string, status: string): object {
  const reason = status === "True" ? type : "Invalid";
  return { type, status, reason, message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
}

/** A Gslb on an HTTPRoute of its name and a Service of its name. */
async function make(name: string, spec: object = {}): Promise<void> {
  await world.serve(name);
  await world.create(httpRoutes, name, {
    spec: {
      hostnames: [hostOf(name)],
      parentRefs: [{ name: "edge" }],
      rules: [{ backendRefs: [{ name, port: 80 }] }],
      ...spec,
    },
  });
  await world.gslb(name, { apiVersion: `${gatewayApi}/v1`, kind: "HTTPRoute", name });
  await world.settle();
}

const accepted = (name: string, status: string): Promise<void> =>
  world.patchStatus(httpRoutes, name, {
    parents: [
      { parentRef: { name: "edge" }, controllerName: "x/y", conditions: [condition("Accepted", status)] },
    ],
  });

test("F-05: a route that its Gateway does not accept is withdrawn, and its host stays for the peers", async () => {
  await make("rejected");
  await assertServed(world, "rejected", address);
  await accepted("rejected", "False");
  await world.settle();
  assert.equal(await world.dig(hostOf("rejected")), "nodata");
  assert.equal(await world.dig(`localtargets-${hostOf("rejected")}`), "nxdomain");
  assert.equal(await world.condition("rejected", "ResolvedRefs"), "False RouteNotAccepted");
  assert.equal(await world.condition("rejected", "Accepted"), "True Accepted");
  assert.ok(
    (await world.events("rejected")).some((event) =>
      /Gateway default\/edge does not accept it: Invalid/.test(event),
    ),
  );
  await accepted("rejected", "True");
  await world.settle();
  await assertServed(world, "rejected", address);
  assert.equal(await world.condition("rejected", "ResolvedRefs"), "True ResolvedRefs");
});

test("F-05: hostname only on the listener, which is a wildcard", async () => {
  const listeners = [{ name: "web", port: 80, protocol: "HTTP", hostname: `*.wild.${zone}` }];
  await world.create(gateways, "wild", { spec: { gatewayClassName: "x", listeners } });
  await programmed("wild", "192.0.2.9", "True");
  await make("wild", { hostnames: [], parentRefs: [{ name: "wild" }] });
  assert.equal(await world.dig(`any.wild.${zone}`), "data 192.0.2.9");
  // A route of its own names below it, and one that is not.
  await make("below", { hostnames: [`below.wild.${zone}`, hostOf("below")], parentRefs: [{ name: "wild" }] });
  assert.equal(await world.dig(`below.wild.${zone}`), "data 192.0.2.9");
  assert.equal(await world.dig(hostOf("below")), "nodata");
  assert.equal(await world.condition("below", "ResolvedRefs"), "False NoMatchingListenerHostname");
  assert.equal(await world.condition("below", "Healthy"), "False PartlyUnhealthy");
});

test("F-05, F-08: two Gateways, of which one is not programmed; then none is, for longer than the grace", async () => {
  await make("both", { parentRefs: [{ name: "edge" }, { name: "other" }] });
  await assertServed(world, "both", `${address},192.0.2.2`);
  await programmed("other", "192.0.2.2", "False");
  await world.settle();
  await assertServed(world, "both", address);
  await programmed("edge", address, "False");
  await world.settle();
  await assertServed(world, "both", address);
  assert.equal(await world.condition("both", "ResolvedRefs"), "False AddressesMissing");
  await world.settle(400_000);
  assert.equal(await world.dig(hostOf("both")), "nodata");
  assert.equal(await world.condition("both", "ResolvedRefs"), "False ExposedAddressesUnresolved");
  await programmed("edge", address, "True");
  await world.settle();
  await assertServed(world, "both", address);
});

test("F-04: a Service of type NodePort is served at nodes, and at what is stated before that", async () => {
  const nodes = { group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false };
  await world.serve("ports", { type: "NodePort" });
  const named = { "k8gb.io/hostname": hostOf("ports") };
  const ref = { apiVersion: "v1", kind: "Service", name: "ports" };
  await world.gslb("ports", ref, { annotations: named });
  await world.settle();
  assert.equal(await world.condition("ports", "ResolvedRefs"), "False ExposedAddressesUnresolved");
  assert.ok(
    (await world.events("ports")).some((event) => /Service default\/ports is reached at no node/.test(event)),
  );
  await world.create(nodes, "one");
  const conditions = [condition("Ready", "True")];
  await world.patchStatus(nodes, "one", {
    addresses: [{ type: "InternalIP", address: "10.0.0.77" }],
    conditions,
  });
  await world.settle();
  await assertServed(world, "ports", "10.0.0.77");
  assert.equal(await world.condition("ports", "ResolvedRefs"), "True ResolvedRefs");
  await world.patch(gslbType, "ports", {
    metadata: { annotations: { ...named, "k8gb.io/exposed-ip-addresses": address } },
  });
  await world.settle();
  await assertServed(world, "ports", address);
});

test("F-05: a backend in another namespace is served once it is granted, and as long", async () => {
  const grant = {
    spec: {
      from: [{ group: gatewayApi, kind: "HTTPRoute", namespace: "elsewhere" }],
      to: [{ group: "", kind: "Service" }],
    },
  };
  // The Gslb is here, and refers to a route that is elsewhere; that one's backend is here.
  await world.serve("granted");
  await world.create(namespaceType, "elsewhere");
  await world.create(httpRoutes, "granted", {
    namespace: "elsewhere",
    spec: {
      hostnames: [hostOf("granted")],
      parentRefs: [{ name: "edge", namespace: "default" }],
      rules: [{ backendRefs: [{ name: "granted", namespace: "default", port: 80 }] }],
    },
  });
  const ref = { apiVersion: `${gatewayApi}/v1`, kind: "HTTPRoute", name: "granted", namespace: "elsewhere" };
  await world.gslb("granted", ref);
  await world.settle();
  assert.equal(await world.dig(hostOf("granted")), "nodata");
  assert.equal(await world.condition("granted", "ResolvedRefs"), "False RefNotPermitted");
  await world.create(referenceGrants, "granted", grant);
  await world.settle();
  await assertServed(world, "granted", address);
  await world.remove(referenceGrants, "granted");
  await world.settle();
  assert.equal(await world.dig(hostOf("granted")), "nodata");
});
