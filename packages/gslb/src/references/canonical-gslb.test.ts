import assert from "node:assert/strict";
import { test } from "node:test";
import type { Gslb, GslbSpec } from "../resources/gslb.ts";
import { canonicalGslb, isEmbedding, specDifferences } from "./canonical-gslb.ts";

const strategy = {
  type: "roundRobin",
  dnsTtlSeconds: 30,
  weight: { eu: 1 },
  splitBrainThresholdSeconds: 300,
};
const ingress = { rules: [{ host: "app.cloud.example.com", http: { paths: [] } }] };
const resourceRef = { apiVersion: "v1", kind: "Service", name: "app" };
const toIngress = {
  ...{ apiVersion: "networking.k8s.io/v1", kind: "Ingress", name: "app", namespace: "shop" },
};

function legacy(spec: GslbSpec | undefined): Gslb {
  return {
    apiVersion: "k8gb.absa.oss/v1beta1",
    kind: "Gslb",
    metadata: {
      ...{ name: "app", namespace: "shop", uid: "1", labels: { team: "shop" } },
      annotations: { "k8gb.io/hostname": "app.cloud.example.com" },
    },
    ...(spec === undefined ? {} : { spec }),
  };
}

const conversions: readonly (readonly [string, GslbSpec | undefined, GslbSpec | undefined])[] = [
  ["a reference", { strategy, resourceRef }, { strategy, resourceRef }],
  ["an embedded Ingress", { strategy, ingress }, { strategy, resourceRef: toIngress }],
  [
    "an embedded Ingress beside an empty reference",
    { strategy, ingress, resourceRef: { name: "" } },
    { strategy, resourceRef: toIngress },
  ],
  ["both", { strategy, ingress, resourceRef }, { strategy, ingress, resourceRef }],
  ["neither", { strategy }, { strategy }],
  ["an empty Ingress", { strategy, ingress: {} }, { strategy, ingress: {} }],
  ["no spec", undefined, undefined],
];

for (const [name, spec, expected] of conversions)
  test(`conversion of ${name}: annotations are a copy, labels are not copied`, () => {
    const given = legacy(spec);
    const made = canonicalGslb(given);
    assert.deepEqual(made.spec, expected);
    assert.deepEqual(made.metadata, {
      ...{ name: "app", namespace: "shop", annotations: given.metadata.annotations },
    });
    assert.notEqual(made.metadata.annotations, given.metadata.annotations);
    assert.equal(made.apiVersion, "k8gb.io/v1beta1");
    assert.deepEqual(specDifferences(given, made), []);
  });

test("embedded: an Ingress alone is, nothing is not, with a reference it is not", () => {
  const all = [{ ingress }, {}, { ingress, resourceRef }, { ingress: {} }];
  assert.deepEqual(
    all.map((spec) => isEmbedding(legacy({ strategy, ...spec }))),
    [true, false, false, false],
  );
});

const found: readonly (readonly [string, GslbSpec, readonly string[]])[] = [
  ["the defaults that k8gb fills in", { strategy, resourceRef, ingress: {}, serviceHealthPolicy: "Any" }, []],
  ["another strategy", { strategy: { type: "failover" }, resourceRef }, ["spec.strategy"]],
  [
    "another policy of health",
    { strategy, resourceRef, serviceHealthPolicy: "All" },
    ["spec.serviceHealthPolicy"],
  ],
  ["an Ingress of its own", { strategy, ingress }, ["spec.resourceRef", "spec.ingress"]],
];

for (const [name, spec, fields] of found)
  test(`differences of a successor with ${name}`, () => {
    const successor = { ...legacy(spec), apiVersion: "k8gb.io/v1beta1" };
    assert.deepEqual(specDifferences(legacy({ strategy, resourceRef }), successor), fields);
  });
