import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "@meridian/runtime";
import { parseOperatorConfig } from "../config/operator-config.ts";
import type { ZoneDelegation } from "../resources/zone-delegation.ts";
import { FakeObjects } from "../testdata/fake-objects.ts";
import { zoneDelegationType } from "../resources/resource-types.ts";
import { applyConfiguredZones, configurationDifference } from "./zone-bootstrap.ts";
import { zoneBlocks } from "./zone-config-map.ts";

function zonesOf(text: string): NonNullable<ReturnType<typeof parseOperatorConfig>["config"]>["zones"] {
  return parseOperatorConfig({ CLUSTER_GEO_TAG: "eu", EDGE_DNS_SERVERS: "192.0.2.53", DNS_ZONES: text })
    .config!.zones;
}

/** An API server that has some ZoneDelegations, and is brought in line with settings. */
async function world(...given: readonly ZoneDelegation[]): Promise<{
  readonly store: FakeObjects;
  readonly present: () => readonly ZoneDelegation[];
  readonly apply: (text: string) => Promise<void>;
  readonly specs: () => readonly string[];
}> {
  const store = new FakeObjects();
  for (const zone of given) await store.client.create<ZoneDelegation>(zoneDelegationType, zone);
  const present = (): readonly ZoneDelegation[] => [...store.objects.values()];
  return {
    store,
    present,
    apply: (text) =>
      applyConfiguredZones({
        ...{ client: store.client, zones: zonesOf(text), present },
        ...{ log: silentLogger, signal: new AbortController().signal },
      }),
    specs: () =>
      present().map(
        ({ metadata, spec }) =>
          `${metadata.name} ${spec?.parentZone}:${spec?.loadBalancedZone}:${spec?.dnsZoneNegTTL}`,
      ),
  };
}

const made = (name: string, text: string): ZoneDelegation => {
  const [parentZone = "", loadBalancedZone = "", ttl = ""] = text.split(":");
  return {
    apiVersion: "k8gb.io/v1beta1",
    kind: "ZoneDelegation",
    metadata: { name },
    spec: { loadBalancedZone, parentZone, dnsZoneNegTTL: Number(ttl) },
  };
};

test("ZD merge: an object that was made otherwise wins, is told so, and a missing one is created", async () => {
  const { present, apply, specs } = await world(
    made("cloud-example-com", "example.com:cloud.example.com:30"),
    made("cloud-example-org", "example.org:cloud.example.org:30"),
  );
  const text = "example.org:cloud.example.org:10;example.io:cloud.example.io:20";
  await apply(text);
  assert.deepEqual(specs(), [
    "cloud-example-com example.com:cloud.example.com:30",
    "cloud-example-org example.org:cloud.example.org:30",
    "cloud-example-io example.io:cloud.example.io:20",
  ]);
  const differences = present().map((zone) => configurationDifference(zone, zonesOf(text)));
  assert.deepEqual(differences, [
    undefined,
    "DNS_ZONES says example.org:cloud.example.org:10, and this object, which wins, example.org:cloud.example.org:30; make them alike",
    undefined,
  ]);
  assert.equal(present()[2]?.spec?.doFinalize, false);
});

test("D35: what DNS_ZONES changes is changed in the object, and what a person changed there stays", async () => {
  const { store, apply, specs, present } = await world();
  await apply("example.com:cloud.example.com:30");
  await apply("example.com:cloud.example.com:30");
  assert.equal(store.writes, 1);
  await apply("example.com:cloud.example.com:60");
  assert.deepEqual(specs(), ["cloud-example-com example.com:cloud.example.com:60"]);

  const [zone] = present();
  await store.client.update<ZoneDelegation>(zoneDelegationType, {
    ...zone!,
    spec: { ...zone!.spec!, dnsZoneNegTTL: 5, doFinalize: true },
  });
  await apply("example.com:cloud.example.com:60");
  assert.deepEqual(specs(), ["cloud-example-com example.com:cloud.example.com:5"]);
  await apply("com:cloud.example.com:60");
  assert.deepEqual(specs(), ["cloud-example-com com:cloud.example.com:5"], "only what the settings changed");
  assert.equal(present()[0]?.spec?.doFinalize, true);
  await apply("");
  assert.equal(present().length, 1, "a zone that left DNS_ZONES stays");
});

test("D35: an object that k8gb made is followed once it says what DNS_ZONES says", async () => {
  const { apply, specs } = await world(made("cloud-example-com", "example.com:cloud.example.com:30"));
  await apply("example.com:cloud.example.com:30");
  await apply("example.com:cloud.example.com:60");
  assert.deepEqual(specs(), ["cloud-example-com example.com:cloud.example.com:60"]);
});

test("D16: two configured zones that differ in dots and dashes only have objects and keys of their own", async () => {
  const { apply, specs } = await world();
  await apply("example.com:a.b.example.com:30;example.com:a-b.example.com:30");
  assert.equal(specs()[0], "a-b-example-com example.com:a.b.example.com:30");
  assert.match(specs()[1]!, /^a-b-example-com-[0-9a-f]{8} example\.com:a-b\.example\.com:30$/);

  const blocks = zoneBlocks(["a.b.example.com", "a-b.example.com"]);
  assert.deepEqual(
    Object.values(blocks).map((block) => block.split("\n")[0]),
    ["a.b.example.com:5353 {", "a-b.example.com:5353 {"],
  );
  assert.ok("a-b-example-com.conf" in blocks);
});
