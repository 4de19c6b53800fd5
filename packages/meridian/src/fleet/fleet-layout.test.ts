import assert from "node:assert/strict";
import { test } from "node:test";
import { formatEndpoint } from "@meridian/runtime";
import { clusterNames, fleetLayout, nameServerName, singleAddressStep } from "./fleet-layout.ts";
import type { FleetLayout } from "./fleet-layout.ts";
import { parentZoneText } from "./parent-zone.ts";

function endpoints(layout: FleetLayout): string[] {
  const ofClusters = layout.clusters.flatMap((cluster) => [
    cluster.apiServer,
    cluster.operator,
    cluster.dns,
    cluster.metrics,
  ]);
  return [layout.parent.dns, layout.claim, ...ofClusters].map(formatEndpoint);
}

test("with own addresses every DNS server has the same port and an address of its own", () => {
  const layout = fleetLayout({ kind: "own-addresses", network: 10 }, { clusterCount: 3, dnsPort: 5300 });
  assert.deepEqual(
    layout.clusters.map((cluster) => `${cluster.name} ${formatEndpoint(cluster.dns)}`),
    ["eu 127.0.10.1:5300", "us 127.0.10.2:5300", "za 127.0.10.3:5300"],
  );
  assert.equal(formatEndpoint(layout.parent.dns), "127.0.10.53:5300");
});

for (const addressing of [
  { kind: "own-addresses", network: 10 },
  { kind: "single-address", offset: 0 },
  { kind: "single-address", offset: 30 },
] as const) {
  test(`no two servers of a full fleet share an endpoint (${JSON.stringify(addressing)})`, () => {
    const all = endpoints(fleetLayout(addressing, { clusterCount: clusterNames.length, dnsPort: 5300 }));
    assert.equal(new Set(all).size, all.length);
  });
}

test("two single-address fleets, one step apart, share no endpoint", () => {
  const at = (offset: number): string[] =>
    endpoints(
      fleetLayout(
        { kind: "single-address", offset },
        { clusterCount: clusterNames.length, dnsPort: 5300 + offset },
      ),
    );
  const [first, second] = [at(0), at(singleAddressStep)];
  assert.deepEqual(
    first.filter((endpoint) => second.includes(endpoint)),
    [],
  );
});

test("NS names are those that every k8gb computes", () => {
  assert.equal(nameServerName("eu"), "gslb-ns-eu-cloud.example.com");
});

test("the parent zone delegates to every cluster, with glue", () => {
  const text = parentZoneText(
    fleetLayout({ kind: "own-addresses", network: 10 }, { clusterCount: 2, dnsPort: 5300 }),
  );
  assert.match(text, /^cloud\.example\.com\. IN NS gslb-ns-us-cloud\.example\.com\.$/m);
  assert.match(text, /^gslb-ns-us-cloud\.example\.com\. IN A 127\.0\.10\.2$/m);
});
