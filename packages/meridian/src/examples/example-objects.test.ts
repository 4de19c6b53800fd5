import assert from "node:assert/strict";
import { test } from "node:test";
import { clusterNames } from "../fleet/fleet-layout.ts";
import { examplesFolder, readExampleObjects } from "./example-objects.ts";
import { describeManifest, parseManifests } from "./manifests.ts";

const hosts = ["roundrobin", "weighted", "failover", "geoip"];

test("every cluster of the default fleet gets the same objects, with addresses of its own", async () => {
  const { ofCluster, leftOut } = await readExampleObjects(examplesFolder, ["eu", "us", "za"]);
  assert.deepEqual(leftOut, []);
  const names = [...ofCluster.values()].map((manifests) => manifests.map(describeManifest).join());
  assert.equal(new Set(names).size, 1);
  for (const host of hosts) {
    for (const kind of ["Service", "EndpointSlice", "Ingress", "Gslb"])
      assert.match(names[0] ?? "", new RegExp(`${kind} demo/${host}`));
  }
  const addresses = [...ofCluster.values()].flatMap((manifests) =>
    manifests.filter(({ kind }) => kind === "Ingress").map(({ status }) => JSON.stringify(status)),
  );
  assert.equal(addresses.length, 12);
  assert.equal(new Set(addresses).size, 3);
});

test("a cluster without a file gets generated addresses", async () => {
  const { ofCluster } = await readExampleObjects(examplesFolder, clusterNames);
  const ingress = ofCluster.get("ca")?.find(({ kind }) => kind === "Ingress");
  assert.deepEqual(ingress?.status, {
    loadBalancer: { ingress: [{ ip: "198.18.7.1" }, { ip: "198.18.7.2" }] },
  });
});

test("a file that names clusters the fleet lacks is left out, with the reason", async () => {
  const { ofCluster, leftOut } = await readExampleObjects(examplesFolder, ["eu", "us"]);
  assert.deepEqual(leftOut, [{ path: "every-cluster/21-weighted.yaml", missing: ["za"] }]);
  assert(ofCluster.get("eu")?.every(({ metadata }) => metadata.name !== "weighted"));
});

for (const [text, says] of [
  ["a: [", /x\.yaml: .*line 1/],
  ["kind: Namespace", /x\.yaml: a document lacks/],
] as const) {
  test(`the manifest ${JSON.stringify(text)} is refused with its file`, () => {
    assert.throws(() => parseManifests({ path: "x.yaml", text }), says);
  });
}
