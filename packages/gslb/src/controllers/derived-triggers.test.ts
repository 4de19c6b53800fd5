import assert from "node:assert/strict";
import { test } from "node:test";
import { serviceType, type KubeObject, type ResourceType } from "@meridian/kube";
import { kindName } from "../resources/object-kind.ts";
import {
  gatewayObjects,
  httpRouteObjects,
  referenceGrantObjects,
  type Gateway,
  type Route,
} from "../resources/gateway-api.ts";
import { nodeObjects, type Node } from "../resources/node.ts";
import { gslbType } from "../resources/resource-types.ts";
import {
  endpointSlice,
  gateway,
  gatewayApi,
  ip,
  node,
  nodePort,
  object,
  referTo,
  route,
  to,
  type Backend,
} from "../testdata/foreign-objects.ts";
import { openGslbWorld, type GslbWorld } from "../testdata/gslb-world.ts";

// Which Gslbs a change wakes of what lets a route serve, and of what a Service on ports of nodes is reached by.

const host = (name: string): string => `${name}.cloud.example.com`;
const typeOf = (
  kind: typeof gatewayObjects | typeof httpRouteObjects | typeof nodeObjects,
): ResourceType => ({
  ...kind,
  version: "v1",
});
const grants: ResourceType = { ...referenceGrantObjects, version: "v1beta1" };
const stated = { "k8gb.io/exposed-ip-addresses": "10.9.9.9" };

function gslb(
  name: string,
  target: KubeObject,
  annotations: Readonly<Record<string, string>> = {},
): KubeObject {
  const { spec, ...rest } = referTo({ ...target, metadata: { name } }, annotations);
  return {
    ...{ ...rest, metadata: { name, namespace: "demo", annotations } },
    spec: { ...spec, strategy: { type: "roundRobin" } },
  } as KubeObject;
}

const webRoute = (name: string, ...backends: readonly Backend[]): KubeObject => ({
  ...route("HTTPRoute", { hostnames: [host(name)], ...to(...backends) }),
  metadata: { name, namespace: "demo" },
});
const listeners = [{ name: "web", hostname: "*.cloud.example.com", port: 80, protocol: "HTTP" }];
const grant = object(`${gatewayApi}/v1beta1`, "ReferenceGrant", {
  ...{ name: "g", namespace: "other" },
  spec: {
    from: [{ group: gatewayApi, kind: "HTTPRoute", namespace: "demo" }],
    to: [{ group: "", kind: "Service" }],
  },
});

function fill({ truth, define }: GslbWorld): void {
  define(httpRouteObjects, "v1");
  define(gatewayObjects, "v1");
  define(referenceGrantObjects, "v1beta1");
  // The core group has no definitions; this one makes the type known here.
  define(nodeObjects, "v1");
  const named = (name: string): Readonly<Record<string, string>> => ({ "k8gb.io/hostname": host(name) });
  for (const each of [
    gateway("edge", [ip("192.0.2.1")], { spec: { listeners } }),
    webRoute("near", { name: "s" }),
    gslb("near", webRoute("near")),
    webRoute("stated", { name: "s" }),
    gslb("stated", webRoute("stated"), stated),
    webRoute("far", { name: "t", namespace: "other" }),
    gslb("far", webRoute("far"), stated),
    nodePort("wide"),
    gslb("wide", nodePort("wide"), named("wide")),
    nodePort("local", { externalTrafficPolicy: "Local" }),
    gslb("local", nodePort("local"), named("local")),
    nodePort("told"),
    gslb("told", nodePort("told"), { ...named("told"), ...stated }),
    endpointSlice("wide", 1, { a: true }),
    endpointSlice("local", 1, { a: true }),
    node("a", { InternalIP: ["10.0.0.1"] }),
    node("b", { InternalIP: ["10.0.0.2"] }),
  ])
    truth.put(each);
}

const put =
  (...objects: readonly KubeObject[]) =>
  ({ truth }: GslbWorld): void => {
    for (const each of objects) truth.put(each);
  };
/** Changes what is stored. */
function change<T extends KubeObject>(
  type: ResourceType<T>,
  name: string,
  fields: { readonly spec?: T extends { spec?: infer S } ? Partial<S> : never; readonly status?: object },
): (world: GslbWorld) => void {
  return ({ truth }) => {
    const namespace = type.namespaced ? "demo" : "";
    const stored = truth.get(type, { name, namespace })! as T & {
      readonly spec?: object;
      readonly status?: object;
    };
    truth.put({
      ...stored,
      ...(fields.spec && { spec: { ...stored.spec, ...fields.spec } }),
      ...(fields.status && { status: { ...stored.status, ...fields.status } }),
    });
  };
}
const accepted = (status: string, lastTransitionTime: string): object => ({
  parents: [
    {
      parentRef: { name: "edge" },
      conditions: [{ type: "Accepted", status, reason: "X", message: "", lastTransitionTime }],
    },
  ],
});
const heartbeat = [{ type: "Ready", status: "True", lastHeartbeatTime: "2026-01-01T00:00:10Z" }];

const changes: readonly {
  readonly name: string;
  readonly change: (world: GslbWorld) => void;
  readonly wakes: readonly string[];
}[] = [
  {
    name: "F-05: a route is not accepted any more",
    change: change<Route>(typeOf(httpRouteObjects), "near", {
      status: accepted("False", "2026-01-01T00:00:00Z"),
    }),
    wakes: ["near"],
  },
  {
    name: "F-05: a route is accepted, as was to be expected",
    change: change<Route>(typeOf(httpRouteObjects), "near", {
      status: accepted("True", "2026-01-01T00:00:00Z"),
    }),
    wakes: [],
  },
  {
    name: "F-05: listeners change: all whose hosts they take, addresses stated or not",
    change: change<Gateway>(typeOf(gatewayObjects), "edge", { spec: { listeners: [] } }),
    wakes: ["far", "near", "stated"],
  },
  {
    name: "F-05: a Gateway is not programmed any more: who takes its addresses",
    change: change<Gateway>(typeOf(gatewayObjects), "edge", {
      status: { conditions: [{ type: "Programmed", status: "False" }] },
    }),
    wakes: ["near"],
  },
  {
    name: "F-05: a Gateway's controller says more of it",
    change: change<Gateway>(typeOf(gatewayObjects), "edge", {
      status: { conditions: [{ type: "Programmed", status: "True", observedGeneration: 7 }] },
    }),
    wakes: ["near"],
  },
  { name: "F-05: a grant comes where a backend is", change: put(grant), wakes: ["far"] },
  {
    name: "F-05: a grant comes to another namespace",
    change: put({ ...grant, metadata: { name: "g", namespace: "third" } }),
    wakes: [],
  },
  {
    name: "F-05: the kind of grants goes",
    change: ({ undefine }) => undefine(referenceGrantObjects),
    wakes: ["far"],
  },
  {
    name: "F-04: the heartbeat of a node",
    change: change<Node>(typeOf(nodeObjects), "a", {
      status: { conditions: heartbeat, images: [{ names: ["x"] }] },
    }),
    wakes: [],
  },
  {
    name: "F-04: a node is not ready any more",
    change: change<Node>(typeOf(nodeObjects), "a", {
      status: { conditions: [{ type: "Ready", status: "Unknown" }] },
    }),
    wakes: ["local", "wide"],
  },
  {
    name: "F-04: a node on which only others have endpoints",
    change: change<Node>(typeOf(nodeObjects), "b", { status: { addresses: [] } }),
    wakes: ["wide"],
  },
  { name: "F-04: a node comes", change: put(node("c", { InternalIP: ["10.0.0.3"] })), wakes: ["wide"] },
  {
    name: "F-04: an endpoint moves to another node",
    change: put(endpointSlice("wide", 1, { b: true }), endpointSlice("local", 1, { b: true })),
    wakes: ["local"],
  },
  {
    name: "F-04: endpoints change that are not ready",
    change: put(endpointSlice("local", 1, { a: true, b: false })),
    wakes: [],
  },
  {
    name: "F-04: a Service keeps its traffic on the node",
    change: change(serviceType, "wide", { spec: { externalTrafficPolicy: "Local" } }),
    wakes: ["wide"],
  },
];

for (const { name, change: make, wakes } of changes)
  test(`one change: ${name}`, async () => {
    const world = openGslbWorld();
    fill(world);
    await world.start();
    assert.deepEqual(new Set(world.takeReconciled()).size, 6);
    make(world);
    await world.clock.advance(5000);
    const found = world.takeReconciled().map((key) => key.replace("demo/", ""));
    assert.deepEqual(found, wakes);
    await world.close();
  });

test("F-04: nodes are followed only where a Service needs them, and little is kept of each", async () => {
  const world = openGslbWorld();
  fill(world);
  for (const name of ["wide", "local"]) world.truth.remove(gslbType, { name, namespace: "demo" });
  await world.start();
  const follows = (): boolean =>
    world.copies.optional.all.some(({ type }) => kindName(type) === kindName(nodeObjects));
  assert.equal(follows(), false);
  const long = node("d", { InternalIP: ["10.0.0.4"] }) as Node;
  world.truth.put({ ...long, status: { ...long.status, images: [{ names: ["x"] }] } } as KubeObject);
  world.truth.put(gslb("wide", nodePort("wide"), { "k8gb.io/hostname": host("wide") }));
  await world.clock.advance(5000);
  assert.equal(follows(), true);
  assert.deepEqual(world.copies.optional.of(nodeObjects).get("d")?.status, long.status);
  assert.deepEqual(world.gslbs.latest("demo/wide")?.exposed.targets?.A.toSorted(), [
    "10.0.0.1",
    "10.0.0.2",
    "10.0.0.4",
  ]);
  await world.close();
});

test("F-05: a backend that is not granted counts as missing: under All it takes the host down, and is told", async () => {
  const world = openGslbWorld();
  fill(world);
  world.truth.put(webRoute("far", { name: "wide" }, { name: "t", namespace: "other" }));
  for (const [name, namespace] of [
    ["t", "other"],
    ["wide", "demo"],
  ])
    world.truth.put({ ...nodePort(name!), metadata: { name: name!, namespace: namespace! } });
  world.truth.put({
    ...endpointSlice("t", 1, { a: true }),
    metadata: { name: "t", namespace: "other", labels: { "kubernetes.io/service-name": "t" } },
  });
  const seen = (): readonly string[] => {
    const { status } = world.gslbs.latest("demo/far")!.plan;
    const resolved = status.conditions?.find(({ type }) => type === "ResolvedRefs");
    return [status.serviceHealth[host("far")]!, resolved!.reason, resolved!.message.split(" lets ")[0]!];
  };
  await world.start();
  const untold = "no ReferenceGrant in the namespace of other/t";
  assert.deepEqual(seen(), ["Healthy", "RefNotPermitted", untold]);
  const [server] = world.gslbs.latest("demo/far")!.plan.status.servers ?? [];
  assert.deepEqual(server?.services, [{ name: "wide", namespace: "demo" }]);
  const stored = world.truth.get(gslbType, { name: "far", namespace: "demo" })! as KubeObject & {
    spec: object;
  };
  world.truth.put({
    ...stored,
    metadata: { ...stored.metadata, generation: 2 },
    spec: { ...stored.spec, serviceHealthPolicy: "All" },
  } as KubeObject);
  await world.clock.advance(5000);
  assert.deepEqual(seen(), ["NotFound", "RefNotPermitted", untold]);
  world.truth.put(grant);
  await world.clock.advance(5000);
  assert.deepEqual(seen().slice(0, 2), ["Healthy", "ResolvedRefs"]);
  world.truth.remove(grants, { name: "g", namespace: "other" });
  await world.clock.advance(5000);
  assert.deepEqual(seen(), ["NotFound", "RefNotPermitted", untold]);
  await world.close();
});
