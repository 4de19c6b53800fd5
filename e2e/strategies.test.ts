import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { deploy, exposedAddress, setReady } from "./harness/application.ts";
import { eventually } from "./harness/eventually.ts";
import { Fleet } from "./harness/fleet.ts";

// Every strategy, seen by dig at each of the three clusters, while services become unhealthy, vanish and return.

const eu = exposedAddress["eu"]!;
const us = exposedAddress["us"]!;
const za = exposedAddress["za"]!;
const all = ["eu", "us", "za"];
let fleet: Fleet;

before(async () => {
  fleet = await Fleet.start({ args: ["--ephemeral", "--no-examples"] });
});
after(async () => {
  await fleet.stop();
});

test("roundRobin answers all healthy clusters everywhere, through unhealthy, absent and none", async () => {
  const app = { name: "rr", strategy: "{ type: roundRobin, dnsTtlSeconds: 5 }" };
  const host = "rr.cloud.example.com";
  await deploy(fleet, app);
  await fleet.answers(host, [eu, us, za]);

  await setReady(fleet, "eu", { ...app, ready: false });
  await fleet.answers(host, [us, za]);

  await fleet.kubectl("us", ["-n", "e2e", "delete", "service,endpointslice", "--all", "--wait=false"]);
  await fleet.answers(host, [za]);
  const status = await eventually("us reports NotFound", async () => {
    const text = await fleet.kubectl("us", ["-n", "e2e", "get", "gslb", "rr", "-o", "json"]);
    const parsed = JSON.parse(text) as { status: { serviceHealth: Record<string, string> } };
    assert.equal(parsed.status.serviceHealth[host], "NotFound");
    return parsed.status;
  });
  assert.equal(status.serviceHealth[host], "NotFound");

  await setReady(fleet, "za", { ...app, ready: false });
  await fleet.answers(host, []);
  for (const cluster of all) {
    const answer = await fleet.dig(cluster, host);
    assert.equal(answer.status, "NOERROR", "a claimed host without target is NODATA, never NXDOMAIN");
    assert.match(answer.authority.join("\n"), /\sSOA\s/);
  }

  await setReady(fleet, "eu", { ...app, ready: true });
  await fleet.answers(host, [eu]);
  await deploy(fleet, app, ["us"]);
  await setReady(fleet, "za", { ...app, ready: true });
  await fleet.answers(host, [eu, us, za]);
});

test("S-01: failover answers the primary only, the others while it is down, and the primary again", async () => {
  const app = { name: "fo", strategy: "{ type: failover, primaryGeoTag: eu, dnsTtlSeconds: 5 }" };
  const host = "fo.cloud.example.com";
  await deploy(fleet, app);
  await fleet.answers(host, [eu]);
  await setReady(fleet, "eu", { ...app, ready: false });
  await fleet.answers(host, [us, za]);
  await setReady(fleet, "us", { ...app, ready: false });
  await fleet.answers(host, [za]);
  await setReady(fleet, "eu", { ...app, ready: true });
  await fleet.answers(host, [eu]);
});

test("W-01: weights choose what is in the answer: a weight of 0 never appears, the others in their share", async () => {
  const app = {
    name: "weighted",
    strategy: "{ type: roundRobin, weight: { eu: 75, us: 25, za: 0 }, dnsTtlSeconds: 5 }",
  };
  const host = "weighted.cloud.example.com";
  await deploy(fleet, app);
  const labels = await eventually("the DNSEndpoint carries the weight labels of all three", async () => {
    const text = await fleet.kubectl("us", ["-n", "e2e", "get", "dnsendpoint", "weighted", "-o", "json"]);
    const { spec } = JSON.parse(text) as {
      spec: { endpoints: { dnsName: string; labels?: Record<string, string> }[] };
    };
    const found = spec.endpoints.find((endpoint) => endpoint.dnsName === host)?.labels ?? {};
    assert.equal(Object.keys(found).length, 4);
    return found;
  });
  assert.deepEqual(labels, {
    strategy: "roundRobin",
    "weight-eu-0-75": eu,
    "weight-us-0-25": us,
    "weight-za-0-0": za,
  });

  const seen = new Map<string, number>();
  for (let asked = 0; asked < 200; asked++) {
    const { addresses } = await fleet.dig(all[asked % 3]!, host);
    assert.equal(addresses.length, 1, "one group per answer");
    seen.set(addresses[0]!, (seen.get(addresses[0]!) ?? 0) + 1);
  }
  assert.equal(seen.get(za), undefined);
  // 150 are expected; three deviations of the binomial are 18, five are 31.
  assert.ok(Math.abs(seen.get(eu)! - 150) < 40, `eu was answered ${seen.get(eu)} of 200 times`);
});

const geoMap = (networks: string): string => `
apiVersion: v1
kind: Namespace
metadata: { name: k8gb }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: meridian-geo-map, namespace: k8gb }
data:
  geo.yaml: |
    networks: { 192.0.2.0/24: eu, 198.51.100.0/24: us, 203.0.113.0/24: za, ${networks} }
`;

test("G-01: geoip answers all where nothing is known, then what is near the client, by a map that changes while it serves", async () => {
  const host = "geo.cloud.example.com";
  await deploy(fleet, { name: "geo", strategy: "{ type: geoip, dnsTtlSeconds: 5 }" });
  await fleet.answers(host, [eu, us, za]);
  const reasonOf = async (): Promise<string> =>
    fleet.kubectl("eu", [
      ...["-n", "e2e", "get", "gslb", "geo", "-o"],
      'jsonpath={.status.conditions[?(@.type=="GeoReady")].reason}',
    ]);
  await eventually("the Gslb says that nothing is known", async () =>
    assert.equal(await reasonOf(), "NoGeoData"),
  );

  const near = async (subnet: string, addresses: readonly string[], scope: number): Promise<void> => {
    for (const cluster of all) {
      await eventually(`${subnet} at ${cluster}`, async () => {
        const answer = await fleet.dig(cluster, host, { options: [`+subnet=${subnet}`] });
        assert.deepEqual(answer.addresses, addresses);
        assert.match(answer.raw, new RegExp(`CLIENT-SUBNET: ${subnet.replaceAll(".", "\\.")}/${scope}\\b`));
      });
    }
  };
  await fleet.apply(geoMap("10.1.0.0/16: eu, 10.2.0.0/16: [za, us]"));
  await near("10.1.7.0/24", [eu], 16);
  await near("10.2.7.0/24", [za], 16);
  await near("10.9.0.0/24", [eu, us, za], 13);
  await eventually("the Gslb says that places are known", async () =>
    assert.equal(await reasonOf(), "GeoReady"),
  );

  await setReady(fleet, "za", { name: "geo", ready: false });
  await near("10.2.7.0/24", [us], 16);
  await fleet.apply(geoMap("10.1.0.0/16: us"));
  await near("10.1.7.0/24", [us], 16);
  await fleet.apply(geoMap("10.1.0.0/99: us"));
  await eventually("the Gslb says what is wrong", async () => assert.equal(await reasonOf(), "MapUnusable"));
  await near("10.1.7.0/24", [us], 16);
});

test("S-04: a cluster without the Gslb answers as the others do", async () => {
  const app = { name: "partial", strategy: "{ type: roundRobin, dnsTtlSeconds: 5 }" };
  await deploy(fleet, app, ["eu", "us"]);
  await fleet.answers("partial.cloud.example.com", [eu, us]);
});

test("a wildcard host publishes its local targets under the literal label and answers any name below", async () => {
  const app = {
    name: "wild",
    host: '"*.wild.cloud.example.com"',
    strategy: "{ type: roundRobin, dnsTtlSeconds: 5 }",
  };
  await deploy(fleet, app);
  await fleet.answers("anything.wild.cloud.example.com", [eu, us, za]);
  const own = await fleet.dig("eu", "localtargets-*.wild.cloud.example.com");
  assert.deepEqual(own.addresses, [eu]);
  const invented = await fleet.dig("eu", "localtargets-x.wild.cloud.example.com");
  assert.deepEqual(invented.addresses, [], "a localtargets name is never synthesised");
});
