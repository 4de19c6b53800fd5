import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gslbType } from "@meridian/gslb";
import {
  endpointSliceType,
  ingressType,
  type Ingress,
  type KubeObject,
  type ResourceType,
} from "@meridian/kube";
import { assertServed, ingressRules, ReferenceWorld, zone } from "./reference-world.ts";

// Gslbs with an embedded Ingress and Gslbs made of an annotated one, annotations with addresses, and health: k8gb's scenarios
// and what users reported, told to one whole cluster.

const address = "192.0.2.1";
const exposed = "k8gb.io/exposed-ip-addresses";
const strategy = "k8gb.io/strategy";
const primary = "k8gb.io/primary-geotag";
const toIngress = { apiVersion: "networking.k8s.io/v1", kind: "Ingress" };

interface SeenGslb extends KubeObject {
  readonly spec?: {
    readonly strategy?: Readonly<Record<string, unknown>>;
    readonly serviceHealthPolicy?: string;
    readonly resourceRef?: object;
  };
}
const gslbs: ResourceType<SeenGslb> = gslbType;

let world: ReferenceWorld;

before(async () => {
  world = await ReferenceWorld.open();
});
after(() => world.close());

const hostOf = (name: string): string => `${name}.${zone}`;

/** A ready Service, an Ingress of its name, and a Gslb that refers to it. */
async function app(name: string, annotations: Readonly<Record<string, string>> = {}): Promise<void> {
  await world.serve(name);
  await world.ingress(name, { [hostOf(name)]: name });
  await world.gslb(name, { ...toIngress, name }, { annotations });
  await world.settle();
}

/** A Gslb whose Ingress is in its own spec. */
async function embed(
  name: string,
  hosts: Readonly<Record<string, string>>,
  annotations: Readonly<Record<string, string>> = {},
): Promise<void> {
  const spec = { strategy: { type: "roundRobin" }, ingress: { rules: ingressRules(hosts) } };
  await world.create(gslbType, name, { annotations, spec });
  await world.settle();
}

const ingressOf = (name: string): Promise<Ingress | undefined> => world.find(ingressType, name);
const gslbOf = (name: string): Promise<SeenGslb | undefined> => world.find(gslbs, name);
const setAnnotations = (type: ResourceType, name: string, annotations: object): Promise<void> =>
  world.patch(type, name, { metadata: { annotations } });
const setAddresses = (name: string, ...ips: readonly string[]): Promise<void> =>
  world.patchStatus(ingressType, name, { loadBalancer: { ingress: ips.map((ip) => ({ ip })) } });

test("embedded-ingress-creation: three hosts are NotFound, Unhealthy and Healthy", async () => {
  const [missing, idle, podinfo] = ["emb-missing", "emb-idle", "emb-podinfo"] as const;
  await world.serve(idle, { ready: false });
  await world.serve(podinfo);
  await embed("emb", { [hostOf(missing)]: missing, [hostOf(idle)]: idle, [hostOf(podinfo)]: podinfo });
  await setAddresses("emb", "192.0.2.1", "192.0.2.2");
  await world.settle();
  assert.deepEqual((await world.status("emb"))?.serviceHealth, {
    [hostOf(missing)]: "NotFound",
    [hostOf(idle)]: "Unhealthy",
    [hostOf(podinfo)]: "Healthy",
  });
  const endpoint = await world.endpoint("emb");
  assert.equal(endpoint?.metadata.ownerReferences?.length, 1);
  assert.equal(endpoint?.metadata.labels?.["k8gb.io/dnstype"], "local");
  assert.equal(await world.dig(hostOf(podinfo)), "data 192.0.2.1,192.0.2.2");
});

test("embedded-ingress-creation, rejects: a rule with `https`, or without `http`", async () => {
  for (const rule of [{ host: hostOf("bad"), https: { paths: [] } }, { host: hostOf("bad") }])
    await assert.rejects(
      world.create(gslbType, "bad", {
        spec: { strategy: { type: "roundRobin" }, ingress: { rules: [rule] } },
      }),
      /spec\.ingress\.rules\[0\]\.http: Required value/,
    );
});

test("embedded: annotations are copied in neither direction", async () => {
  await world.serve("emb-notes");
  await embed("emb-notes", { [hostOf("emb-notes")]: "emb-notes" }, { app: "x" });
  assert.equal((await ingressOf("emb-notes"))?.metadata.annotations, undefined);
  await setAnnotations(ingressType, "emb-notes", { "nginx.example/a": "b" });
  await setAnnotations(gslbType, "emb-notes", { more: "y" });
  await world.settle();
  assert.deepEqual((await ingressOf("emb-notes"))?.metadata.annotations, { "nginx.example/a": "b" });
  assert.deepEqual((await gslbOf("emb-notes"))?.metadata.annotations, { app: "x", more: "y" });
});

test("D41: an Ingress of somebody else is left as it is, and the Gslb is told", async () => {
  await world.ingress("taken", { "taken.example.org": "other" });
  const before = await ingressOf("taken");
  await embed("taken", { [hostOf("taken")]: "taken" });
  assert.deepEqual(await ingressOf("taken"), before);
  assert.equal(await world.condition("taken", "ResolvedRefs"), "False NotOwned");
});

test("D41: the class that a cluster gave the embedded Ingress stays", async () => {
  await world.serve("classed");
  await embed("classed", { [hostOf("classed")]: "classed" });
  await world.patch(ingressType, "classed", { spec: { ingressClassName: "nginx" } });
  await world.patch(gslbType, "classed", {
    spec: { ingress: { rules: ingressRules({ [hostOf("classed2")]: "classed" }) } },
  });
  await world.settle();
  const { spec } = (await ingressOf("classed"))!;
  assert.deepEqual(
    [spec?.ingressClassName, spec?.rules?.map(({ host }) => host)],
    ["nginx", [hostOf("classed2")]],
  );
});

test("F-02: a host that the user renames stays renamed, and the old one is answered no more", async () => {
  await world.serve("renamed");
  await embed("renamed", { [hostOf("before")]: "renamed" });
  await setAddresses("renamed", address);
  await world.settle();
  assert.equal(await world.dig(hostOf("before")), `data ${address}`);
  await world.patch(gslbType, "renamed", {
    spec: { ingress: { rules: ingressRules({ [hostOf("after")]: "renamed" }) } },
  });
  for (let tick = 0; tick < 5; tick += 1) {
    await setAnnotations(ingressType, "renamed", { tick: String(tick) });
    await world.settle(1000);
  }
  assert.deepEqual(
    (await ingressOf("renamed"))?.spec?.rules?.map(({ host }) => host),
    [hostOf("after")],
  );
  assert.deepEqual(
    [await world.dig(hostOf("before")), await world.dig(hostOf("after"))],
    ["nxdomain", `data ${address}`],
  );
});

test("ingress-playground-resourceref: annotations of an Ingress make a Gslb of its name, which it owns", async () => {
  await world.serve("made");
  const annotations = { [strategy]: "failover", [primary]: "eu", "k8gb.io/dns-ttl-seconds": "5", app: "x" };
  await world.ingress("made", { [hostOf("made")]: "made" }, { annotations });
  await world.settle();
  const gslb = await gslbOf("made");
  const [owner] = gslb?.metadata.ownerReferences ?? [];
  assert.deepEqual(
    [owner?.kind, owner?.name, owner?.controller, owner?.blockOwnerDeletion, gslb?.metadata.annotations],
    ["Ingress", "made", true, true, undefined],
  );
  assert.deepEqual(gslb?.spec?.resourceRef, { ...toIngress, name: "made" });
  assert.deepEqual(gslb?.spec?.strategy, { type: "failover", primaryGeoTag: "eu", dnsTtlSeconds: 5 });
  await assertServed(world, "made", address);

  await setAnnotations(ingressType, "made", { app: "y", "k8gb.io/exposed-hostnames": "lb.example.net" });
  await world.settle();
  assert.equal((await gslbOf("made"))?.metadata.annotations, undefined);

  await world.remove(ingressType, "made");
  await world.settle(10_000);
  assert.deepEqual([await gslbOf("made"), await world.endpoint("made")], [undefined, undefined]);
  await world.ingress("made", { [hostOf("made")]: "made" }, { annotations });
  await world.settle();
  await assertServed(world, "made", address);
});

test("D40: what the user adds to a Gslb that an Ingress made stays, and what annotations say follows them", async () => {
  await world.serve("kept");
  await world.ingress(
    "kept",
    { [hostOf("kept")]: "kept" },
    { annotations: { [strategy]: "failover", [primary]: "eu" } },
  );
  await world.settle();
  await world.patch(gslbType, "kept", {
    metadata: { annotations: { mine: "x" } },
    spec: { serviceHealthPolicy: "All", strategy: { splitBrainThresholdSeconds: 60 } },
  });
  await setAnnotations(ingressType, "kept", {
    [strategy]: "roundRobin",
    [primary]: null,
    [exposed]: "192.0.2.8",
  });
  await world.settle();
  const gslb = await gslbOf("kept");
  assert.deepEqual(gslb?.spec?.strategy, {
    type: "roundRobin",
    dnsTtlSeconds: 30,
    splitBrainThresholdSeconds: 60,
  });
  assert.equal(gslb?.spec?.serviceHealthPolicy, "All");
  assert.deepEqual(gslb?.metadata.annotations, { mine: "x", [exposed]: "192.0.2.8" });
  await assertServed(world, "kept", "192.0.2.8");
  await setAnnotations(ingressType, "kept", { [exposed]: null });
  await world.settle();
  assert.deepEqual((await gslbOf("kept"))?.metadata.annotations, { mine: "x" });
  await assertServed(world, "kept", address);
});

test("F-03: a Gslb that an Ingress made goes with the annotation, and one that it did not make stays", async () => {
  await world.serve("unmade");
  await world.ingress(
    "unmade",
    { [hostOf("unmade")]: "unmade" },
    { annotations: { [strategy]: "roundRobin" } },
  );
  await world.settle();
  await assertServed(world, "unmade", address);
  await setAnnotations(ingressType, "unmade", { [strategy]: null });
  await world.settle(10_000);
  assert.deepEqual([await gslbOf("unmade"), await world.dig(hostOf("unmade"))], [undefined, "nxdomain"]);

  await app("own");
  const spec = (await gslbOf("own"))?.spec;
  await setAnnotations(ingressType, "own", { [strategy]: "failover", [primary]: "us" });
  await world.settle();
  assert.deepEqual((await gslbOf("own"))?.spec, spec);
  assert.ok(
    (await world.events("own")).some((event) =>
      event.startsWith("Ingress GslbNotOwned: Gslb default/own exists"),
    ),
  );
  await setAnnotations(ingressType, "own", { [strategy]: null });
  await world.settle();
  await assertServed(world, "own", address);
});

test("annotated Ingress: failover without a primary makes no Gslb, and says what is missing", async () => {
  await world.ingress(
    "refused",
    { [hostOf("refused")]: "refused" },
    { annotations: { [strategy]: "failover" } },
  );
  await world.settle();
  assert.equal(await gslbOf("refused"), undefined);
  assert.ok(
    (await world.events("refused")).some((event) =>
      /^Ingress AnnotationRefused: .*needs k8gb.io\/primary-geotag/.test(event),
    ),
  );
  await setAnnotations(ingressType, "refused", { [primary]: "eu" });
  await world.settle();
  assert.notEqual(await gslbOf("refused"), undefined);
});

test("cluster-exposed-ips, second part: the annotation beats the Ingress, and without it the Ingress is back", async () => {
  await app("stated");
  await setAddresses("stated", "192.0.2.1", "192.0.2.2");
  await setAnnotations(gslbType, "stated", { [exposed]: "198.51.100.20" });
  await world.settle();
  await assertServed(world, "stated", "198.51.100.20");
  assert.deepEqual((await world.status("stated"))?.loadBalancer?.exposedIps, ["198.51.100.20"]);
  await setAnnotations(gslbType, "stated", { [exposed]: null });
  await world.settle();
  await assertServed(world, "stated", "192.0.2.1,192.0.2.2");
});

/** The edge's zone with the addresses of one load balancer. */
const edgeZone = (...records: readonly string[]): string =>
  [
    "$ORIGIN example.net.",
    "@ 60 SOA ns hostmaster 1 7200 1800 86400 30",
    "@ 60 NS ns",
    "ns 60 A 10.0.0.53",
    ...records,
    "",
  ].join("\n");

test("exposed-hostnames beats exposed-ip-addresses; F-07: both families, a change of address at once, the last good kept", async () => {
  let stop = await world.startEdge(edgeZone("lb 20 A 192.0.2.30", "lb 20 AAAA 2001:db8::30"));
  await app("named", { "k8gb.io/exposed-hostnames": "lb.example.net", [exposed]: "192.0.2.31" });
  await world.settle();
  const host = hostOf("named");
  assert.deepEqual(
    [await world.dig(host), await world.dig(host, "AAAA")],
    ["data 192.0.2.30", "data 2001:db8::30"],
  );
  await stop();
  stop = await world.startEdge(edgeZone("lb 20 A 192.0.2.32", "lb 20 AAAA 2001:db8::30"));
  await world.settle(21_000);
  assert.deepEqual(
    [await world.dig(host), await world.dig(host, "AAAA")],
    ["data 192.0.2.32", "data 2001:db8::30"],
  );
  await stop();
  await world.settle(120_000);
  assert.deepEqual(
    [await world.dig(host), await world.dig(host, "AAAA")],
    ["data 192.0.2.32", "data 2001:db8::30"],
  );
});

test("D4: while the edge DNS is down a load balancer with a name keeps its addresses, and what dies is withdrawn", async () => {
  const stop = await world.startEdge(edgeZone("elb 20 A 192.0.2.40"));
  await app("elb");
  await world.patchStatus(ingressType, "elb", {
    loadBalancer: { ingress: [{ hostname: "elb.example.net" }] },
  });
  await world.settle(10_000);
  await assertServed(world, "elb", "192.0.2.40");
  await stop();
  await world.settle(60_000);
  await assertServed(world, "elb", "192.0.2.40");
  await world.setReady("elb", false);
  await world.settle();
  assert.equal(await world.dig(hostOf("elb")), "nodata");
  await world.setReady("elb", true);
  await world.settle();
  await assertServed(world, "elb", "192.0.2.40");
});

test("a host name that nobody can resolve is told", async () => {
  await app("nameless", { "k8gb.io/exposed-hostnames": "nobody.example.net" });
  await world.settle(5000);
  assert.equal(await world.condition("nameless", "ResolvedRefs"), "False ExposedAddressesUnresolved");
  assert.ok(
    (await world.events("nameless")).some((event) =>
      /^Gslb ExposedIPResolutionError: .*nobody.example.net/.test(event),
    ),
  );
});

test("F-11: a Gslb that an Ingress owns and we did not make stays, also when everything starts anew", async () => {
  await world.serve("inherited");
  await world.ingress("inherited", { [hostOf("inherited")]: "inherited" });
  const { uid } = (await ingressOf("inherited"))!.metadata;
  const ownerReferences = [
    { apiVersion: "networking.k8s.io/v1", kind: "Ingress", name: "inherited", uid, controller: true },
  ];
  await world.gslb("inherited", { ...toIngress, name: "inherited" });
  await world.patch(gslbType, "inherited", { metadata: { ownerReferences } });
  await world.settle();
  await world.restart();
  await world.settle(20_000);
  assert.notEqual(await gslbOf("inherited"), undefined);
  await assertServed(world, "inherited", address);
});

test("cluster-exposed-ips: the configuration beats an Ingress with more addresses, and the annotation beats both", async () => {
  const other = await ReferenceWorld.open({ CLUSTER_EXPOSED_IPS: "192.0.2.50" });
  await other.serve("fixed");
  await other.ingress("fixed", { [hostOf("fixed")]: "fixed" });
  await other.patchStatus(ingressType, "fixed", {
    loadBalancer: { ingress: [{ ip: "192.0.2.51" }, { ip: "192.0.2.52" }] },
  });
  await other.gslb("fixed", { ...toIngress, name: "fixed" });
  await other.settle();
  await assertServed(other, "fixed", "192.0.2.50");
  assert.deepEqual((await other.status("fixed"))?.loadBalancer?.exposedIps, ["192.0.2.50"]);
  await other.patch(gslbType, "fixed", { metadata: { annotations: { [exposed]: "198.51.100.20" } } });
  await other.settle();
  await assertServed(other, "fixed", "198.51.100.20");
  await other.close();
});

test("a bad address in the annotation is told, and what was answered stays", async () => {
  await app("typo", { [exposed]: "192.0.2.6" });
  await setAnnotations(gslbType, "typo", { [exposed]: "192.0.2.7,192.0.2.test" });
  await world.settle();
  await assertServed(world, "typo", "192.0.2.6");
  assert.equal(await world.condition("typo", "ResolvedRefs"), "False ExposedAddressesUnresolved");
  assert.ok(
    (await world.events("typo")).some((event) =>
      /^Gslb ExposedIPResolutionError: .*"192.0.2.test" is no address/.test(event),
    ),
  );
});

test("F-08: an address that a living Ingress stops to show is kept for a while, and leaves at once with the Ingress", async () => {
  await app("blink");
  await setAddresses("blink");
  await world.settle(20_000);
  await assertServed(world, "blink", address);
  assert.equal(await world.condition("blink", "ResolvedRefs"), "False AddressesMissing");
  await setAddresses("blink", "192.0.2.2");
  await world.settle();
  await assertServed(world, "blink", "192.0.2.2");
  assert.equal(await world.condition("blink", "ResolvedRefs"), "True ResolvedRefs");

  await setAddresses("blink");
  await world.settle();
  await assertServed(world, "blink", "192.0.2.2");
  await world.setReady("blink", false);
  await world.settle();
  assert.equal(await world.dig(hostOf("blink")), "nodata");
  await world.setReady("blink", true);
  await world.settle();
  await assertServed(world, "blink", "192.0.2.2");
  await world.settle(300_000);
  assert.equal(await world.dig(hostOf("blink")), "nodata");
  assert.equal(await world.condition("blink", "Healthy"), "False NoAddress");

  await setAddresses("blink", address);
  await world.settle();
  await setAddresses("blink");
  await world.settle();
  await world.remove(ingressType, "blink");
  await world.settle();
  assert.equal(await world.dig(hostOf("blink")), "nodata");
});

test("H-03: health goes up and down and up and down again, through status, DNSEndpoint and DNS", async () => {
  await app("pulse");
  for (const ready of [false, true, false, true]) {
    await world.setReady("pulse", ready);
    await world.settle(500);
    const { serviceHealth, healthyRecords } = (await world.status("pulse"))!;
    assert.deepEqual(serviceHealth, { [hostOf("pulse")]: ready ? "Healthy" : "Unhealthy" });
    assert.deepEqual(healthyRecords, ready ? { [hostOf("pulse")]: [address] } : {});
    const names = (await world.endpoint("pulse"))?.spec?.endpoints?.map(({ dnsName }) => dnsName);
    assert.equal(names?.includes(`localtargets-${hostOf("pulse")}`), ready);
    assert.equal(await world.dig(hostOf("pulse")), ready ? `data ${address}` : "nodata");
  }
});

test("H-05: a sick backend leaves Accepted, ResolvedRefs and Programmed true", async () => {
  await app("sick");
  await world.setReady("sick", false);
  await world.settle();
  for (const type of ["Accepted", "ResolvedRefs", "Programmed"])
    assert.match(await world.condition("sick", type), /^True /);
  assert.equal(await world.condition("sick", "Healthy"), "False Unhealthy");
});

test("a slice of a Service that several hosts share changes all of them", async () => {
  await world.serve("shared");
  await world.ingress("shared", { [hostOf("shared-a")]: "shared", [hostOf("shared-b")]: "shared" });
  await world.gslb("shared", { ...toIngress, name: "shared" });
  await world.settle();
  await world.remove(endpointSliceType, "shared");
  await world.settle();
  assert.deepEqual(
    [await world.dig(hostOf("shared-a")), await world.dig(hostOf("shared-b"))],
    ["nodata", "nodata"],
  );
});
