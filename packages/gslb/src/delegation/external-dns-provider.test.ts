import assert from "node:assert/strict";
import { test } from "node:test";
import { Simulation } from "@meridian/runtime/sim";
import type { LookedUp } from "../references/exposed-addresses.ts";
import type { DnsEndpoint } from "../resources/dns-endpoint.ts";
import { FakeObjects } from "../testdata/fake-objects.ts";
import { leftDelegationAnnotation } from "./delegation-endpoint.ts";
import type { DelegatedZone } from "./delegation-provider.ts";
import { ExternalDnsProvider } from "./external-dns-provider.ts";
import { LeftDelegations } from "./left-delegations.ts";

const signal = new AbortController().signal;

function zone(name: string, changes: Partial<DelegatedZone> = {}): DelegatedZone {
  const part = name.replace(/\.example\.com$/, "").replaceAll(".", "-");
  return {
    loadBalancedZone: name,
    parentZone: "example.com",
    ttlSeconds: 30,
    ownNameServer: `gslb-ns-eu-${part}.example.com`,
    ownAddresses: { A: ["192.0.2.2", "192.0.2.1"], AAAA: [] },
    nameServers: [`gslb-ns-eu-${part}.example.com`, `gslb-ns-us-${part}.example.com`],
    isLast: false,
    ...changes,
  };
}

/** A provider over an API server in memory, whose copy is always up to date. */
function provided(): {
  readonly provider: ExternalDnsProvider;
  readonly store: FakeObjects;
  readonly endpoints: () => ReadonlyMap<string, DnsEndpoint>;
} {
  const store = new FakeObjects();
  const endpoints = (): ReadonlyMap<string, DnsEndpoint> =>
    new Map(
      [...store.objects.values()].map((object) => [
        `${object.metadata.namespace}/${object.metadata.name}`,
        object,
      ]),
    );
  const provider = new ExternalDnsProvider({
    client: store.client,
    endpoints: { get: (key) => endpoints().get(key) },
    namespace: "k8gb",
  });
  return { provider, store, endpoints };
}

const texts = (endpoint: DnsEndpoint | undefined): readonly string[] =>
  (endpoint?.spec?.endpoints ?? []).map(
    ({ dnsName, recordType, recordTTL, targets }) =>
      `${dnsName} ${recordTTL} ${recordType} ${targets?.join()}`,
  );

test("External-dns: a new delegation is created as k8gb does, and an existing one follows", async () => {
  const { provider, store, endpoints } = provided();
  await provider.ensure(zone("cloud.example.com"), signal);
  const key = "k8gb/k8gb-ns-extdns-cloud-example-com";
  assert.deepEqual([...endpoints().keys()], [key]);
  const { metadata } = endpoints().get(key)!;
  assert.deepEqual(metadata.labels, { "k8gb.io/dnstype": "extdns", "k8gb.absa.oss/dnstype": "extdns" });
  assert.equal(metadata.annotations, undefined);
  assert.equal(metadata.ownerReferences, undefined);
  assert.deepEqual(texts(endpoints().get(key)), [
    "cloud.example.com 30 NS gslb-ns-eu-cloud.example.com,gslb-ns-us-cloud.example.com",
    "gslb-ns-eu-cloud.example.com 30 A 192.0.2.2,192.0.2.1",
  ]);
  await provider.ensure(
    zone("cloud.example.com", { ownAddresses: { A: [], AAAA: ["2001:db8::1"] } }),
    signal,
  );
  assert.deepEqual(texts(endpoints().get(key)).slice(1), [
    "gslb-ns-eu-cloud.example.com 30 AAAA 2001:db8::1",
  ]);
  assert.equal(store.writes, 2);
});

test("External-dns: own addresses of a family that nobody could tell of stay", async () => {
  const { provider, store, endpoints } = provided();
  const A = ["192.0.2.1"];
  const dual = zone("cloud.example.com", { ownAddresses: { A, AAAA: ["2001:db8::1"] } });
  await provider.ensure(dual, signal);
  const half = { ...dual, ownAddresses: { A: ["192.0.2.9"], AAAA: [] } };
  await provider.ensure({ ...half, unknownFamily: "AAAA" }, signal);
  const glue = (): readonly string[] => texts([...endpoints().values()][0]).slice(1);
  assert.deepEqual(glue(), [
    "gslb-ns-eu-cloud.example.com 30 A 192.0.2.9",
    "gslb-ns-eu-cloud.example.com 30 AAAA 2001:db8::1",
  ]);
  await provider.ensure({ ...half, unknownFamily: "AAAA" }, signal);
  assert.equal(store.writes, 2);
  await provider.ensure(half, signal);
  assert.deepEqual(glue(), ["gslb-ns-eu-cloud.example.com 30 A 192.0.2.9"]);
});

test("P-08: nothing is written where the delegation is right", async () => {
  const { provider, store } = provided();
  for (let round = 0; round < 5; round += 1) await provider.ensure(zone("cloud.example.com"), signal);
  assert.equal(store.writes, 1);
});

test("D16: zones whose names differ in dots and dashes only have objects of their own, and leave apart", async () => {
  const { provider, endpoints } = provided();
  const [dots, dashes] = [zone("a.b.example.com"), zone("a-b.example.com")];
  for (let round = 0; round < 2; round += 1)
    for (const each of [dots, dashes]) await provider.ensure(each, signal);
  const zones = [...endpoints()].map(([key, each]) => [key, each.spec?.endpoints?.[0]?.dnsName]);
  assert.deepEqual(zones, [
    ["k8gb/k8gb-ns-extdns-a-b-example-com", "a.b.example.com"],
    [zones[1]?.[0], "a-b.example.com"],
  ]);
  assert.match(String(zones[1]?.[0]), /^k8gb\/k8gb-ns-extdns-a-b-example-com-[0-9a-f]{8}$/);

  await provider.withdraw({ ...dots, isLast: true }, signal);
  await provider.ensure(dashes, signal);
  assert.deepEqual([...endpoints().keys()], [zones[1]?.[0]], "the other keeps its name");
});

test("withdrawing takes the own entries only while others stand in the delegation, and the object with the last", async () => {
  const { provider, store, endpoints } = provided();
  const key = "k8gb/k8gb-ns-extdns-cloud-example-com";
  await provider.ensure(zone("cloud.example.com"), signal);
  for (let round = 0; round < 2; round += 1)
    assert.equal(await provider.withdraw(zone("cloud.example.com"), signal), "withdrawn");
  assert.deepEqual(texts(endpoints().get(key)), ["cloud.example.com 30 NS gslb-ns-us-cloud.example.com"]);
  assert.equal(endpoints().get(key)?.metadata.annotations?.[leftDelegationAnnotation], "example.com");
  assert.equal(store.writes, 2);

  await provider.ensure(zone("cloud.example.com"), signal);
  assert.equal(endpoints().get(key)?.metadata.annotations, undefined, "it is the own delegation again");
  await provider.withdraw(zone("cloud.example.com", { isLast: true }), signal);
  assert.equal(endpoints().size, 0);
});

test("D31: withdrawing what somebody deleted is a success", async () => {
  const { provider } = provided();
  assert.equal(await provider.withdraw(zone("cloud.example.com"), signal), "withdrawn");
  assert.equal(await provider.withdraw(zone("cloud.example.com", { isLast: true }), signal), "withdrawn");
});

test("D30: what was left for the others' sake goes with the last of them, and not while nobody can tell", async () => {
  const { provider, store, endpoints } = provided();
  await provider.ensure(zone("cloud.example.com"), signal);
  await provider.withdraw(zone("cloud.example.com"), signal);
  let found: LookedUp = { state: "failed", verdict: "SERVFAIL" };
  const left = new LeftDelegations(
    new Simulation({ seed: 1 }).node({ name: "eu", addresses: ["10.0.0.1"] }).runtime,
    {
      client: store.client,
      endpoints: () => [...endpoints().values()],
      isServed: () => false,
      lookUp: async () => found,
      periodMs: 1000,
    },
  );
  await left.round(signal);
  assert.equal(endpoints().size, 1);
  found = { state: "known", targets: { A: ["198.51.100.1"], AAAA: [] } };
  await left.round(signal);
  assert.equal(endpoints().size, 1);
  assert.equal(store.writes, 2, "nothing was written while the other is there");
  found = { state: "known", targets: { A: [], AAAA: [] } };
  await left.round(signal);
  assert.equal(endpoints().size, 0);
});
