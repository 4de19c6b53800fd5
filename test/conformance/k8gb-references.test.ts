import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gslbType } from "@meridian/gslb";
import { customResourceDefinitionType, ingressType, serviceType, type ResourceType } from "@meridian/kube";
import { assertServed, foreignType, ingressRules, ReferenceWorld, zone } from "./reference-world.ts";

// References of every kind, told to one whole cluster: k8gb's scenarios, and what it gets wrong (D17 to D28).

const gatewayApi = "gateway.networking.k8s.io";
const istio = "networking.istio.io";
const gateways = foreignType(gatewayApi, "v1", "Gateway");
const istioGateways = foreignType(istio, "v1", "Gateway");
const httpRoutes = foreignType(gatewayApi, "v1", "HTTPRoute");
const address = "192.0.2.1";

const kinds: Readonly<Record<string, { readonly type: ResourceType; readonly versions: readonly string[] }>> =
  {
    HTTPRoute: { type: httpRoutes, versions: ["v1", "v1beta1"] },
    GRPCRoute: { type: foreignType(gatewayApi, "v1", "GRPCRoute"), versions: ["v1"] },
    TLSRoute: { type: foreignType(gatewayApi, "v1", "TLSRoute"), versions: ["v1", "v1alpha2", "v1alpha3"] },
    TCPRoute: { type: foreignType(gatewayApi, "v1", "TCPRoute"), versions: ["v1", "v1alpha2"] },
    UDPRoute: { type: foreignType(gatewayApi, "v1", "UDPRoute"), versions: ["v1", "v1alpha2"] },
    VirtualService: {
      type: foreignType(istio, "v1", "VirtualService"),
      versions: ["v1", "v1beta1", "v1alpha3"],
    },
  };

let world: ReferenceWorld;

before(async () => {
  world = await ReferenceWorld.open();
  for (const { type, versions } of Object.values(kinds)) await world.define(type, versions);
  await world.define(gateways);
  await world.define(istioGateways);
  await world.create(gateways, "edge", { spec: { gatewayClassName: "x", listeners: [] } });
  await world.patchStatus(gateways, "edge", { addresses: [{ type: "IPAddress", value: address }] });
  await world.create(istioGateways, "edge", { spec: { selector: { app: "istio-ingressgateway" } } });
  await world.create(serviceType, "istio-ingressgateway", {
    labels: { app: "istio-ingressgateway" },
    spec: { type: "LoadBalancer", ports: [{ port: 80 }] },
  });
  await world.patchStatus(serviceType, "istio-ingressgateway", {
    loadBalancer: { ingress: [{ ip: address }] },
  });
});
after(() => world.close());

const hostOf = (name: string): string => `${name}.${zone}`;

/** What is referred to, made for one test; its Service has the same name. */
async function make(kind: string, name: string): Promise<void> {
  const spec = {
    Ingress: { rules: ingressRules({ [hostOf(name)]: name }) },
    VirtualService: {
      hosts: [hostOf(name)],
      gateways: ["default/edge"],
      http: [{ route: [{ destination: { host: name } }] }],
    },
  }[kind] ?? {
    hostnames: [hostOf(name)],
    parentRefs: [{ name: "edge" }],
    rules: [{ backendRefs: [{ name, port: 80 }] }],
  };
  if (kind === "Service") await world.serve(name, { type: "LoadBalancer" });
  else await world.create(typeOf(kind), name, { spec, labels: { app: name } });
  if (kind === "Service" || kind === "Ingress")
    await world.patchStatus(typeOf(kind), name, { loadBalancer: { ingress: [{ ip: address }] } });
}

function typeOf(kind: string): ResourceType {
  if (kind === "Ingress") return ingressType;
  return kind === "Service" ? serviceType : kinds[kind]!.type;
}

const annotated = (kind: string, name: string): Readonly<Record<string, string>> =>
  ["Service", "TCPRoute", "UDPRoute"].includes(kind) ? { "k8gb.io/hostname": hostOf(name) } : {};

const references = [
  { kind: "Ingress", apiVersion: "networking.k8s.io/v1" },
  { kind: "Service", apiVersion: "v1" },
  ...Object.entries(kinds).flatMap(([kind, { type, versions }]) =>
    versions.map((version) => ({ kind, apiVersion: `${type.group}/${version}` })),
  ),
];

for (const [number, { kind, apiVersion }] of references.entries())
  for (const by of ["name", "label"])
    test(`D17: ${apiVersion} ${kind} by ${by} is served; it vanishes, and own targets with it; it comes back`, async () => {
      const name = `ref-${number}-${by}`;
      if (kind !== "Service") await world.serve(name);
      await make(kind, name);
      const ref = { apiVersion, kind, ...(by === "name" ? { name } : { matchLabels: { app: name } }) };
      if (by === "label" && kind === "Service")
        await world.patch(serviceType, name, { metadata: { labels: { app: name } } });
      await world.gslb(name, ref, { annotations: annotated(kind, name) });
      await world.settle();
      await assertServed(world, name, address);
      assert.equal(await world.condition(name, "ResolvedRefs"), "True ResolvedRefs");

      const { spec, metadata } = (await world.find(typeOf(kind), name)) as unknown as {
        readonly spec: object;
        readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
      };
      await world.remove(typeOf(kind), name);
      await world.settle();
      assert.equal(await world.dig(hostOf(name)), "nodata");
      assert.equal(await world.dig(`localtargets-${hostOf(name)}`), "nxdomain");
      assert.equal(await world.condition(name, "ResolvedRefs"), "False NotFound");
      assert.deepEqual((await world.status(name))?.serviceHealth, { [hostOf(name)]: "NotFound" });
      assert.ok((await world.events(name)).some((event) => event.startsWith("Gslb ReconcileError")));

      await world.create(typeOf(kind), name, { spec, ...(metadata.labels && { labels: metadata.labels }) });
      if (kind === "Service" || kind === "Ingress")
        await world.patchStatus(typeOf(kind), name, { loadBalancer: { ingress: [{ ip: address }] } });
      await world.settle();
      await assertServed(world, name, address);
    });

test("D17: a Gateway vanishes and its address is withdrawn, where the Gslb does not state one itself", async () => {
  await world.create(gateways, "apart", { spec: { gatewayClassName: "x", listeners: [] } });
  await world.patchStatus(gateways, "apart", { addresses: [{ value: "192.0.2.2" }] });
  for (const name of ["via", "stated"]) {
    await world.serve(name);
    await world.create(httpRoutes, name, {
      spec: {
        hostnames: [hostOf(name)],
        parentRefs: [{ name: "apart" }],
        rules: [{ backendRefs: [{ name }] }],
      },
    });
    const annotations = name === "stated" ? { "k8gb.io/exposed-ip-addresses": "192.0.2.3" } : {};
    await world.gslb(name, { apiVersion: `${gatewayApi}/v1`, kind: "HTTPRoute", name }, { annotations });
  }
  await world.settle();
  await assertServed(world, "via", "192.0.2.2");
  await world.remove(gateways, "apart");
  await world.settle();
  assert.equal(await world.dig(hostOf("via")), "nodata");
  assert.equal(await world.condition("via", "ResolvedRefs"), "False ExposedAddressesUnresolved");
  assert.ok(
    (await world.events("via")).some((event) =>
      /^Gslb ExposedIPResolutionError: .*default\/apart/.test(event),
    ),
  );
  await assertServed(world, "stated", "192.0.2.3");
});

test("a kind is installed while everything runs, taken away and installed again: no restart is needed", async () => {
  const { type, versions } = kinds["GRPCRoute"]!;
  await world.remove(customResourceDefinitionType, `${type.plural}.${type.group}`);
  await world.settle();
  const name = "later";
  await world.serve(name);
  await world.gslb(name, { apiVersion: `${gatewayApi}/v1`, kind: "GRPCRoute", name });
  await world.settle();
  assert.equal(await world.condition(name, "ResolvedRefs"), "False KindNotServed");
  for (let round = 0; round < 2; round += 1) {
    await world.define(type, versions);
    await make("GRPCRoute", name);
    await world.settle(10_000);
    await assertServed(world, name, address);
    await world.remove(customResourceDefinitionType, `${type.plural}.${type.group}`);
    await world.settle(10_000);
    assert.equal(await world.dig(hostOf(name)), "nodata");
    assert.equal(await world.condition(name, "ResolvedRefs"), "False KindNotServed");
  }
  await world.define(type, versions);
});

test("D17: a lookup that fails keeps what is alive and withdraws what is known to be dead", async () => {
  const [alive, dead] = ["two-alive", "two-dead"].map(hostOf) as [string, string];
  await world.serve("two-a");
  await world.serve("two-b");
  const labels = { app: "two" };
  await world.ingress("two", { [alive]: "two-a", [dead]: "two-b" }, { labels });
  await world.gslb("two", { apiVersion: "networking.k8s.io/v1", kind: "Ingress", matchLabels: labels });
  await world.settle();
  assert.equal(await world.dig(dead), `data ${address}`);
  await world.ingress("two-more", { [hostOf("two-other")]: "two-a" }, { labels });
  await world.settle();
  assert.equal(await world.condition("two", "ResolvedRefs"), "False NotExactlyOne");
  assert.deepEqual([await world.dig(alive), await world.dig(dead)], [`data ${address}`, `data ${address}`]);
  await world.setReady("two-b", false);
  await world.settle();
  assert.deepEqual([await world.dig(alive), await world.dig(dead)], [`data ${address}`, "nodata"]);
});

test("D17: a host that leaves all zones takes its targets along", async () => {
  await world.serve("moving");
  await world.ingress("moving", { [hostOf("moving")]: "moving" });
  await world.gslb("moving", { apiVersion: "networking.k8s.io/v1", kind: "Ingress", name: "moving" });
  await world.settle();
  await assertServed(world, "moving", address);
  await world.patch(ingressType, "moving", {
    spec: { rules: ingressRules({ "moving.example.org": "moving" }) },
  });
  await world.settle();
  assert.equal(await world.dig(hostOf("moving")), "nxdomain");
  assert.equal(await world.condition("moving", "Accepted"), "False HostOutsideZones");
});

test("D18: two rules of one host are judged by the Services of both", async () => {
  await world.serve("twice-a");
  await world.serve("twice-b", { ready: false });
  const rules = [
    ...ingressRules({ [hostOf("twice")]: "twice-a" }),
    ...ingressRules({ [hostOf("Twice")]: "twice-b" }),
  ];
  await world.ingress("twice", {}, { spec: { rules } });
  await world.gslb("twice", { apiVersion: "networking.k8s.io/v1", kind: "Ingress", name: "twice" });
  await world.settle();
  await assertServed(world, "twice", address);
  const { servers = [] } = (await world.status("twice"))!;
  assert.deepEqual(
    servers.map(({ services = [] }) => services.map(({ name }) => name)),
    [["twice-a", "twice-b"]],
  );
});

test("D26: a rule without paths has no Service, and does not disturb the others", async () => {
  await world.serve("bare");
  await world.ingress(
    "bare",
    {},
    {
      spec: { rules: [{ host: hostOf("bare-none") }, ...ingressRules({ [hostOf("bare")]: "bare" })] },
    },
  );
  await world.gslb("bare", { apiVersion: "networking.k8s.io/v1", kind: "Ingress", name: "bare" });
  await world.settle();
  assert.deepEqual((await world.status("bare"))?.serviceHealth, {
    [hostOf("bare-none")]: "NotFound",
    [hostOf("bare")]: "Healthy",
  });
  assert.equal(await world.dig(hostOf("bare")), `data ${address}`);
});

test("D28: the first status is that of what was written, and nothing failed on the way", async () => {
  await world.serve("first");
  await world.ingress("first", { [hostOf("first")]: "first" });
  await world.gslb("first", { apiVersion: "networking.k8s.io/v1", kind: "Ingress", name: "first" });
  await world.settle(500);
  assert.deepEqual((await world.status("first"))?.healthyRecords, { [hostOf("first")]: [address] });
  assert.deepEqual(await world.events("first"), []);
});

test("gatewayapi-tlsroute-versions: three versions on a Gateway without address, addresses by annotation", async () => {
  await world.create(gateways, "bare", { spec: { gatewayClassName: "x", listeners: [] } });
  for (const version of ["v1", "v1alpha2", "v1alpha3"]) {
    const name = `tls-${version}`;
    await world.serve(name);
    await world.create({ ...kinds["TLSRoute"]!.type, version }, name, {
      spec: {
        hostnames: [hostOf(name)],
        parentRefs: [{ name: "bare" }],
        rules: [{ backendRefs: [{ name }] }],
      },
    });
    const ref = { apiVersion: `${gatewayApi}/${version}`, kind: "TLSRoute", name };
    await world.gslb(name, ref, { annotations: { "k8gb.io/exposed-ip-addresses": "10.0.0.1,10.0.0.2" } });
    await world.settle();
    await assertServed(world, name, "10.0.0.1,10.0.0.2");
  }
});

test("F-04: a Service of another type is served at the addresses that are stated", async () => {
  await world.serve("routable");
  const ref = { apiVersion: "v1", kind: "Service", name: "routable" };
  await world.gslb("routable", ref, { annotations: { "k8gb.io/hostname": hostOf("routable") } });
  await world.settle();
  assert.equal(await world.condition("routable", "ResolvedRefs"), "False ExposedAddressesUnresolved");
  assert.equal(await world.condition("routable", "Healthy"), "False NoAddress");
  const annotations = {
    "k8gb.io/hostname": hostOf("routable"),
    "k8gb.io/exposed-ip-addresses": "192.0.2.44",
  };
  await world.patch(gslbType, "routable", { metadata: { annotations } });
  await world.settle();
  await assertServed(world, "routable", "192.0.2.44");
});

test("F-10: a reference to nothing says so, and gets no empty name", async () => {
  await world.gslb("void", { apiVersion: "networking.k8s.io/v1", kind: "Ingress", name: "void" });
  await world.settle();
  assert.equal(await world.condition("void", "ResolvedRefs"), "False NotFound");
  assert.equal(await world.endpoint("void"), undefined);
});

test("F-12, D46: of two Gslbs that name one host the first keeps it, after a restart too, and the other is told who", async () => {
  const host = hostOf("pay");
  for (const name of ["pay-z", "pay-a"]) {
    await world.serve(name);
    await world.ingress(name, { [host]: name });
    await world.gslb(name, { apiVersion: "networking.k8s.io/v1", kind: "Ingress", name });
    await world.settle();
  }
  const check = async (): Promise<void> => {
    assert.equal(await world.condition("pay-z", "Accepted"), "True Accepted");
    assert.equal(await world.condition("pay-a", "Accepted"), "False HostConflict");
    assert.ok(
      (await world.events("pay-a")).some((event) => event.includes("held by the older Gslb default/pay-z")),
    );
    await world.setReady("pay-z", false);
    await world.settle();
    assert.equal(await world.dig(host), "nodata");
    await world.setReady("pay-z", true);
    await world.settle();
    assert.equal(await world.dig(host), `data ${address}`);
  };
  await check();
  await world.restart();
  await world.settle(20_000);
  await check();
});

test("F-09: one address behind two listeners counts once", async () => {
  await world.create(gateways, "double", { spec: { gatewayClassName: "x", listeners: [] } });
  await world.patchStatus(gateways, "double", {
    addresses: [{ value: "192.0.2.5" }, { value: "192.0.2.5" }],
  });
  await world.serve("double");
  await world.create(httpRoutes, "double", {
    spec: {
      hostnames: [hostOf("double")],
      parentRefs: [{ name: "double" }],
      rules: [{ backendRefs: [{ name: "double" }] }],
    },
  });
  await world.gslb("double", { apiVersion: `${gatewayApi}/v1`, kind: "HTTPRoute", name: "double" });
  await world.settle();
  await assertServed(world, "double", "192.0.2.5");
});

test("H-07: after a restart no host of any kind is down before it was looked at", async () => {
  const hosts: string[] = [];
  for (const kind of ["Ingress", "HTTPRoute", "VirtualService"]) {
    const name = `again-${kind.toLowerCase()}`;
    await world.serve(name);
    await make(kind, name);
    const { group, version } = typeOf(kind);
    await world.gslb(name, { apiVersion: `${group}/${version}`, kind, name });
    hosts.push(hostOf(name));
  }
  await world.settle();
  await world.restart();
  const seen = new Map(hosts.map((host) => [host, new Set<string>()]));
  const until = world.simulation.nowMs + 20_000;
  while (world.simulation.nowMs < until) {
    for (const host of hosts) seen.get(host)!.add(await world.dig(host));
    await world.settle(50);
  }
  for (const [host, answers] of seen)
    assert.deepEqual(
      [...answers].filter((answer) => answer !== "refused" && answer !== "unreachable"),
      [`data ${address}`],
      host,
    );
});
