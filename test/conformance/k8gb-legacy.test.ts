import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { customResourceDefinitions, dnsEndpointType, gslbType, legacyGslbType } from "@meridian/gslb";
import {
  customResourceDefinitionType,
  ingressType,
  serviceType,
  type KubeObject,
  type ResourceType,
} from "@meridian/kube";
import { assertServed, ingressRules, ReferenceWorld, zone, type ObjectFields } from "./reference-world.ts";

// The legacy group, told to one whole cluster: k8gb's scenarios and tables of the move to the present one, and what k8gb gets
// wrong about it (D39).

const address = "192.0.2.1";
const requested = "k8gb.io/migration-requested";
const migrated = "k8gb.io/migrated-to-k8gb-io";
const finalizer = "k8gb.io/legacy-migration-protection";
const hostOf = (name: string): string => `${name}.${zone}`;
const request = { [requested]: "true" };

/** A Gslb of either group. */
type SeenGslb = KubeObject & {
  readonly spec?: {
    readonly strategy?: object;
    readonly resourceRef?: object;
    readonly ingress?: object;
  };
  readonly status?: { readonly hosts?: string; readonly serviceHealth?: object };
};

const canonicalVersions = customResourceDefinitions.find(({ spec }) => spec.group === gslbType.group)!.spec
  .versions;
/** The definition's versions, as somebody may have changed them. */
const withoutRoundRobin: unknown = JSON.parse(
  JSON.stringify(canonicalVersions).replace(
    '"type":{"type":"string","description":"roundRobin',
    '"type":{"enum":["failover"],"type":"string","description":"roundRobin',
  ),
);
const definition = customResourceDefinitions.find(({ spec }) => spec.group === legacyGslbType.group)!;

let world: ReferenceWorld;
let count = 0;
let name: string;

before(async () => {
  world = await ReferenceWorld.open();
  await install();
});
after(() => world.close());
beforeEach(async () => {
  name = `legacy-${(count += 1)}`;
});

async function install(): Promise<void> {
  const { metadata, spec } = definition;
  await world.create(customResourceDefinitionType, metadata.name ?? "", { spec });
  await world.settle();
}

/** A legacy Gslb; without a spec, with an embedded Ingress of one host. */
async function legacy(fields: ObjectFields & { readonly named?: string } = {}): Promise<KubeObject> {
  const { named = name, ...rest } = fields;
  const spec = { strategy: { type: "roundRobin", dnsTtlSeconds: 30 }, ...embedding(named) };
  const made = await world.create(legacyGslbType, named, { spec, ...rest });
  await world.settle();
  return made;
}

const embedding = (named: string): object => ({
  ingress: { rules: ingressRules({ [hostOf(named)]: named }) },
});
const addressed = (): Promise<void> =>
  world.patchStatus(ingressType, name, { loadBalancer: { ingress: [{ ip: address }] } });

/** A legacy Gslb that is served. */
async function served(fields: ObjectFields = {}): Promise<KubeObject> {
  await world.serve(name);
  const made = await legacy(fields);
  await addressed();
  await world.settle();
  await assertServed(world, name, address);
  return made;
}

const label = (labels: Readonly<Record<string, string | null>>): Promise<void> =>
  world.patch(legacyGslbType, name, { metadata: { labels } }).then(() => world.settle());
const find = (type: ResourceType): Promise<SeenGslb | undefined> => world.find(type, name);

/** Owners as their group, with how many there are. */
async function owners(type: ResourceType): Promise<readonly string[]> {
  const object = await world.find(type, name);
  return (object?.metadata.ownerReferences ?? []).map(
    ({ apiVersion, uid, controller }) => `${apiVersion.split("/")[0]} ${uid}${controller ? "" : " (not it)"}`,
  );
}

const ownerOf = (gslb: KubeObject | undefined): string =>
  `${gslb?.apiVersion?.split("/")[0]} ${gslb?.metadata.uid}`;

async function told(): Promise<readonly string[]> {
  const events = await world.events(name);
  return events.flatMap((event) => /^Gslb (Legacy\w+)/.exec(event)?.[1] ?? []).sort();
}

test("legacy runtime: embedded, Service missing: the status has host and NotFound, Ingress and DNSEndpoint exist", async () => {
  const made = await legacy();
  const { status } = (await find(legacyGslbType))!;
  assert.equal(status?.hosts, hostOf(name));
  assert.deepEqual(status?.serviceHealth, { [hostOf(name)]: "NotFound" });
  assert.deepEqual(await owners(ingressType), [ownerOf(made)]);
  assert.deepEqual(await owners(dnsEndpointType), [ownerOf(made)]);
  assert.equal(await find(gslbType), undefined);
});

test("legacy runtime: health of a legacy Gslb counts at once, unlike in k8gb", async () => {
  await served();
  await world.setReady(name, false);
  await world.settle(500);
  assert.equal(await world.dig(hostOf(name)), "nodata");
  await world.setReady(name, true);
  await world.settle(500);
  assert.equal(await world.dig(hostOf(name)), `data ${address}`);
});

test("legacy runtime: a wrong spec is told by condition and event", async () => {
  await legacy({ spec: { strategy: { type: "Invalid" }, ...embedding(name) } });
  const events = await world.events(name);
  assert.ok(
    events.some((event) => event.startsWith("Gslb InvalidSpec")),
    events.join("\n"),
  );
});

test("legacy runtime: a request label from the start: nothing is made for the legacy Gslb but its successor", async () => {
  await world.create(ingressType, name, { spec: { rules: ingressRules({ [hostOf(name)]: name }) } });
  const made = await legacy({ labels: request });
  const successor = await find(gslbType);
  assert.deepEqual(await owners(dnsEndpointType), [ownerOf(successor)]);
  assert.deepEqual(await owners(ingressType), []);
  assert.notEqual(successor?.metadata.uid, made.metadata.uid);
});

test("legacy-service-annotation: a LoadBalancer Service with a hostname annotation, then migrated", async () => {
  await world.serve(name, { type: "LoadBalancer" });
  await world.patchStatus(serviceType, name, { loadBalancer: { ingress: [{ ip: address }] } });
  const resourceRef = { apiVersion: "v1", kind: "Service", name };
  const annotations = { "k8gb.io/hostname": hostOf(name) };
  const made = await legacy({ annotations, spec: { strategy: { type: "roundRobin" }, resourceRef } });
  assert.equal((await find(legacyGslbType))?.status?.hosts, hostOf(name));
  assert.deepEqual(await owners(dnsEndpointType), [ownerOf(made)]);
  await assertServed(world, name, address);

  await label(request);
  const successor = await find(gslbType);
  assert.deepEqual(successor?.metadata.annotations, annotations);
  assert.deepEqual(successor?.spec?.resourceRef, resourceRef);
  assert.equal(successor?.status?.hosts, hostOf(name));
  assert.deepEqual(await owners(dnsEndpointType), [ownerOf(successor)]);
  await assertServed(world, name, address);
});

test("migration: requested from the start, an embedded Ingress is made too, which k8gb leaves out, and is nobody's", async () => {
  await served({ labels: request });
  assert.deepEqual(await owners(ingressType), []);
  const ingress = await world.find(ingressType, name);
  assert.equal(ingress?.metadata.labels?.["app.k8gb.io/managed-by"], "gslb");
  assert.match(JSON.stringify((await find(gslbType))?.spec?.resourceRef), new RegExp(`"name":"${name}"`));
});

test("migration, conversion: strategy, TTL and annotations are copied, labels are not; label, finalizer and event", async () => {
  const strategy = {
    type: "failover",
    primaryGeoTag: "eu",
    dnsTtlSeconds: 30,
    splitBrainThresholdSeconds: 300,
  };
  const annotations = { "k8gb.io/exposed-ip-addresses": "192.0.2.7", team: "shop" };
  await world.serve(name);
  await legacy({
    ...{ annotations, labels: { ...request, team: "shop" } },
    spec: { strategy, ...embedding(name) },
  });
  const successor = await find(gslbType);
  assert.deepEqual(successor?.spec?.strategy, strategy);
  assert.deepEqual(successor?.metadata.annotations, annotations);
  assert.equal(successor?.metadata.labels, undefined);
  assert.equal(successor?.spec?.ingress, undefined);
  assert.deepEqual(successor?.spec?.resourceRef, {
    ...{ apiVersion: "networking.k8s.io/v1", kind: "Ingress", name, namespace: "default" },
  });
  const { labels, finalizers } = (await find(legacyGslbType))!.metadata;
  assert.equal(labels?.[migrated], "true");
  assert.deepEqual(finalizers, [finalizer]);
  assert.deepEqual(await told(), ["LegacyMigrated"]);
});

test("migration, conversion: a reference and an Ingress in one spec are both copied, and the Ingress stays whose it is", async () => {
  await world.serve(name);
  await world.ingress(name, { [hostOf(name)]: name });
  const resourceRef = { apiVersion: "networking.k8s.io/v1", kind: "Ingress", name };
  const spec = { strategy: { type: "roundRobin" }, resourceRef, ...embedding(name) };
  await legacy({ spec, labels: request });
  const successor = await find(gslbType);
  assert.deepEqual(successor?.spec?.resourceRef, resourceRef);
  assert.ok(successor?.spec?.ingress !== undefined);
  await assertServed(world, name, address);
});

test("M-01: legacy-migration-embedded: the Ingress survives with its uid, repeated runs change nothing, the successor stays", async () => {
  const made = await served();
  const ingress = await world.find(ingressType, name);
  assert.deepEqual(await owners(ingressType), [ownerOf(made)]);
  const service = await world.find(serviceType, name);
  const somebody = { apiVersion: "v1", kind: "Service", name, uid: service?.metadata.uid };
  await world.patch(ingressType, name, {
    metadata: { ownerReferences: [...ingress!.metadata.ownerReferences!, somebody] },
  });
  await label(request);
  assert.deepEqual(await owners(ingressType), [`v1 ${service?.metadata.uid} (not it)`]);
  const before = [await find(legacyGslbType), await find(gslbType), await world.endpoint(name)];
  await world.restart();
  await world.settle(30_000);
  const now = [await find(legacyGslbType), await find(gslbType), await world.endpoint(name)];
  assert.deepEqual(
    now.map((object) => object?.metadata.resourceVersion),
    before.map((object) => object?.metadata.resourceVersion),
  );
  assert.deepEqual(await told(), ["LegacyDeprecated", "LegacyMigrated"]);

  await world.remove(legacyGslbType, name);
  await world.settle(10_000);
  assert.equal(await find(legacyGslbType), undefined);
  assert.equal((await world.find(ingressType, name))?.metadata.uid, ingress?.metadata.uid);
  await assertServed(world, name, address);
});

test("legacy-migration-requested-pauses-runtime: one canonical owner; the done label comes back; deleting keeps both", async () => {
  await world.create(ingressType, name, { spec: { rules: ingressRules({ [hostOf(name)]: name }) } });
  await world.serve(name);
  await addressed();
  await legacy({ labels: request });
  const successor = ownerOf(await find(gslbType));
  assert.deepEqual(await owners(dnsEndpointType), [successor]);
  await label({ [migrated]: "false" });
  assert.deepEqual((await find(legacyGslbType))?.metadata.labels, {
    [requested]: "true",
    [migrated]: "true",
  });
  assert.deepEqual(await owners(dnsEndpointType), [successor]);
  await world.remove(legacyGslbType, name);
  await world.settle(10_000);
  assert.equal(await find(legacyGslbType), undefined);
  assert.equal(ownerOf(await find(gslbType)), successor);
  await assertServed(world, name, address);
});

test("legacy-migration-dnsendpoint-handoff: the same DNSEndpoint changes hands, and no answer is empty meanwhile", async () => {
  const made = await served();
  const endpoint = await world.endpoint(name);
  assert.deepEqual(await owners(dnsEndpointType), [ownerOf(made)]);
  await world.patch(legacyGslbType, name, { metadata: { labels: request } });
  const answers = new Set<string>();
  const watch = async (): Promise<void> => {
    for (let step = 0; step < 300; step += 1) {
      answers.add(await world.dig(hostOf(name)));
      answers.add(await world.dig(`localtargets-${hostOf(name)}`));
      await world.settle(10);
    }
  };
  await watch();
  assert.deepEqual(await owners(dnsEndpointType), [ownerOf(await find(gslbType))]);
  await world.remove(legacyGslbType, name);
  await watch();
  assert.equal(await find(legacyGslbType), undefined);
  assert.equal((await world.endpoint(name))?.metadata.uid, endpoint?.metadata.uid);
  assert.deepEqual([...answers], [`data ${address}`]);
});

/** The successor with all that it needs, or nothing at all. */
async function assertWholeOrGone(): Promise<"whole" | "gone"> {
  if ((await find(gslbType)) !== undefined) {
    await assertServed(world, name, address);
    return "whole";
  }
  const left = [await world.endpoint(name), await world.find(ingressType, name)];
  assert.deepEqual(left, [undefined, undefined]);
  return "gone";
}

test("M-01: deleted at any moment of the migration, what is served is whole or gone, and never left alone", async () => {
  const [base, outcomes] = [name, new Set<string>()];
  for (const propagationPolicy of ["Background", "Foreground"] as const)
    for (let ms = 0; ms <= 12; ms += 1) {
      name = `${base}-${propagationPolicy.toLowerCase()}-${ms}`;
      await served();
      await world.patch(legacyGslbType, name, { metadata: { labels: request } });
      await world.settle(ms);
      await remove(propagationPolicy);
      await world.settle(10_000);
      assert.equal(await find(legacyGslbType), undefined, name);
      outcomes.add(await assertWholeOrGone());
    }
  assert.ok(outcomes.has("whole"));
});

test("M-01: stopped at any moment of the migration, it is ended by the next start", async () => {
  const base = name;
  for (let ms = 0; ms <= 12; ms += 2) {
    name = `${base}-${ms}`;
    await served();
    await world.patch(legacyGslbType, name, { metadata: { labels: request } });
    await world.settle(ms);
    await world.restart();
    await world.settle(20_000);
    assert.equal((await find(legacyGslbType))?.metadata.labels?.[migrated], "true");
    assert.deepEqual(await owners(dnsEndpointType), [ownerOf(await find(gslbType))]);
    await world.remove(legacyGslbType, name);
    await world.settle();
    assert.equal(await assertWholeOrGone(), "whole");
  }
});

test("migration: an existing successor is never changed, takes everything over, and the legacy Gslb is told so", async () => {
  await served();
  const strategy = { type: "failover", primaryGeoTag: "eu", dnsTtlSeconds: 60 };
  const resourceRef = { apiVersion: "networking.k8s.io/v1", kind: "Ingress", name };
  const successor = await world.create(gslbType, name, { spec: { strategy, resourceRef } });
  await label(request);
  const now = await find(gslbType);
  assert.equal(now?.metadata.generation, successor.metadata.generation);
  assert.deepEqual(now?.spec?.strategy, strategy);
  assert.deepEqual(await owners(dnsEndpointType), [ownerOf(successor)]);
  assert.deepEqual(await owners(ingressType), []);
  assert.equal((await find(legacyGslbType))?.metadata.labels?.[migrated], "true");
  const events = (await world.events(name)).filter((event) => event.startsWith("Gslb LegacyIgnored"));
  assert.equal(events.length, 1, events.join("\n"));
  assert.match(events[0]!, /already exists and stays as it is, with another spec\.strategy/);
});

test("a successor that is made without any label is in effect alone, and outlives the legacy Gslb", async () => {
  await served();
  const resourceRef = { apiVersion: "networking.k8s.io/v1", kind: "Ingress", name };
  const spec = { strategy: { type: "roundRobin" }, resourceRef };
  const successor = await world.create(gslbType, name, { spec });
  await world.settle();
  assert.deepEqual(await owners(dnsEndpointType), [ownerOf(successor)]);
  assert.deepEqual(await told(), ["LegacyDeprecated", "LegacyIgnored"]);
  assert.equal((await find(legacyGslbType))?.metadata.finalizers, undefined);
  await remove("Foreground");
  await world.settle(10_000);
  assert.equal(await find(legacyGslbType), undefined);
  await assertServed(world, name, address);
});

test("migration: the done label without a successor: none is made, a finalizer, LegacyIgnored, nothing is balanced", async () => {
  await legacy({ labels: { [migrated]: "true" } });
  assert.equal(await find(gslbType), undefined);
  assert.equal(await world.endpoint(name), undefined);
  assert.deepEqual((await find(legacyGslbType))?.metadata.finalizers, [finalizer]);
  assert.deepEqual(await told(), ["LegacyIgnored"]);
  await world.remove(legacyGslbType, name);
  await world.settle();
  assert.equal(await find(legacyGslbType), undefined);
});

test("migration: when the successor is deleted nothing is balanced; without both labels the legacy Gslb is back", async () => {
  await served({ labels: request });
  await world.remove(gslbType, name);
  await world.settle(10_000);
  assert.equal(await world.dig(hostOf(name)), "nxdomain");
  assert.equal(await world.endpoint(name), undefined);
  assert.deepEqual(await told(), ["LegacyIgnored", "LegacyMigrated"]);
  await label({ [requested]: null, [migrated]: null });
  await assertServed(world, name, address);
  assert.deepEqual(await owners(dnsEndpointType), [ownerOf(await find(legacyGslbType))]);
  assert.equal((await find(legacyGslbType))?.metadata.finalizers, undefined);
});

test("migration: no label: no successor, no finalizer, LegacyDeprecated once, whatever runs", async () => {
  await served();
  await world.setReady(name, false);
  await label({ [requested]: "yes" });
  assert.equal(await find(gslbType), undefined);
  assert.equal((await find(legacyGslbType))?.metadata.finalizers, undefined);
  assert.deepEqual(await told(), ["LegacyDeprecated"]);
});

test("migration: one that is refused is told, and the legacy Gslb goes on; it follows when the reason is gone", async () => {
  const made = await served();
  const refusing = (isRefusing: boolean): Promise<void> =>
    world.patch(customResourceDefinitionType, "gslbs.k8gb.io", {
      spec: { versions: isRefusing ? withoutRoundRobin : canonicalVersions },
    });
  await refusing(true);
  await world.settle();
  await label(request);
  assert.equal(await find(gslbType), undefined);
  assert.deepEqual(await told(), ["LegacyDeprecated", "LegacyMigrationRefused"]);
  assert.deepEqual(await owners(ingressType), [ownerOf(made)]);
  await world.setReady(name, false);
  await world.settle();
  assert.equal(await world.dig(hostOf(name)), "nodata");
  await world.setReady(name, true);
  await world.settle();
  await refusing(false);
  await world.settle(65_000);
  assert.deepEqual(await owners(dnsEndpointType), [ownerOf(await find(gslbType))]);
  await assertServed(world, name, address);
});

for (const propagationPolicy of ["Foreground", "Background"] as const)
  test(`D39: deleting a legacy Gslb that was never migrated leaves no DNSEndpoint and no Ingress (${propagationPolicy})`, async () => {
    await served();
    await remove(propagationPolicy);
    await world.settle(10_000);
    assert.equal(await find(legacyGslbType), undefined);
    assert.equal(await world.endpoint(name), undefined);
    assert.equal(await world.find(ingressType, name), undefined);
    assert.equal(await world.dig(hostOf(name)), "nxdomain");
  });

test("D39: with the finalizer of a move that was taken back, too", async () => {
  const { metadata } = await served();
  await world.patch(legacyGslbType, name, { metadata: { finalizers: [finalizer] } });
  await world.settle();
  assert.equal((await find(legacyGslbType))?.metadata.uid, metadata.uid);
  await remove("Foreground");
  await world.settle(10_000);
  assert.deepEqual(
    [await find(legacyGslbType), await world.endpoint(name), await world.find(ingressType, name)],
    [undefined, undefined, undefined],
  );
});

test("M-06: a manifest with splitBrainThresholdSeconds is accepted, kept and honoured", async () => {
  const strategy = { type: "failover", primaryGeoTag: "eu", splitBrainThresholdSeconds: 300 };
  await served({ spec: { strategy, ...embedding(name) } });
  await label(request);
  assert.deepEqual((await find(gslbType))?.spec?.strategy, strategy);
});

test("a legacy Gslb keeps what it has over a restart, and its definition may come and go", async () => {
  await served();
  await world.restart();
  await world.settle(20_000);
  await assertServed(world, name, address);
  assert.deepEqual(await told(), ["LegacyDeprecated", "LegacyDeprecated"]);

  await world.remove(customResourceDefinitionType, definition.metadata.name!);
  await world.settle(10_000);
  assert.equal(await world.dig(hostOf(name)), "nxdomain");
  await install();
  name = `${name}-again`;
  await served();
});

async function remove(propagationPolicy: "Foreground" | "Background"): Promise<void> {
  const ref = { namespace: "default", name };
  await world.simulation.complete(world.cluster.client.delete(legacyGslbType, ref, { propagationPolicy }));
}
