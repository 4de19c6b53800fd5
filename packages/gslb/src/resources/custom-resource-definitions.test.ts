import assert from "node:assert/strict";
import { test } from "node:test";
import { compileSchema, validateCustomResourceDefinition, type Json } from "@meridian/kube";
import { customResourceDefinitions } from "./custom-resource-definitions.ts";

const schemaOf = (name: string): ReturnType<typeof compileSchema> => {
  const definition = customResourceDefinitions.find(({ metadata }) => metadata.name === name);
  return compileSchema(definition!.spec.versions[0]!.schema!.openAPIV3Schema!);
};

test("the definitions are valid", () => {
  for (const definition of customResourceDefinitions)
    assert.deepEqual(validateCustomResourceDefinition(definition), [], definition.metadata.name);
});

test("there are k8gb's four, with its names and columns", () => {
  const told = customResourceDefinitions.map(({ metadata, spec }) => [
    metadata.name,
    spec.scope,
    (spec.names.shortNames ?? []).join(),
    (spec.versions[0]!.additionalPrinterColumns ?? []).map(({ name }) => name).join(),
  ]);
  assert.deepEqual(told, [
    ["gslbs.k8gb.io", "Namespaced", "", "strategy,geoTag,hosts,Accepted,ResolvedRefs,Healthy"],
    ["gslbs.k8gb.absa.oss", "Namespaced", "", "strategy,geoTag,hosts"],
    ["zonedelegations.k8gb.io", "Cluster", "zd", "LoadBalancedZone,ParentZone,NegTTL"],
    ["dnsendpoints.externaldns.k8s.io", "Namespaced", "", ""],
  ]);
});

const strategy = { type: "roundRobin" };
const rule = {
  host: "a.x",
  http: {
    paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "s", port: { number: 80 } } } }],
  },
};
const zone = (loadBalancedZone: string): Json => ({
  spec: { loadBalancedZone, parentZone: "example.com", dnsZoneNegTTL: 30 },
});

const cases: readonly {
  readonly name: string;
  readonly kind: string;
  readonly object: Json;
  readonly valid: boolean;
}[] = [
  { name: "an object without spec", kind: "gslbs.k8gb.io", object: {}, valid: true },
  {
    name: "any strategy name, which a condition tells of",
    kind: "gslbs.k8gb.io",
    object: { spec: { strategy: { type: "Other", dnsTtlSeconds: -1 } } },
    valid: true,
  },
  { name: "a spec without strategy", kind: "gslbs.k8gb.io", object: { spec: {} }, valid: false },
  {
    name: "a strategy without type",
    kind: "gslbs.k8gb.io",
    object: { spec: { strategy: {} } },
    valid: false,
  },
  {
    name: "a health policy that is none",
    kind: "gslbs.k8gb.io",
    object: { spec: { strategy, serviceHealthPolicy: "Most" } },
    valid: false,
  },
  {
    name: "a weight that is no number",
    kind: "gslbs.k8gb.io",
    object: { spec: { strategy: { type: "roundRobin", weight: { eu: "1" } } } },
    valid: false,
  },
  {
    name: "an embedded Ingress",
    kind: "gslbs.k8gb.io",
    object: { spec: { strategy, ingress: { rules: [rule] } } },
    valid: true,
  },
  {
    name: "a rule without http",
    kind: "gslbs.k8gb.io",
    object: { spec: { strategy, ingress: { rules: [{ host: "a.x" }] } } },
    valid: false,
  },
  {
    name: "a status without the required fields",
    kind: "gslbs.k8gb.io",
    object: { status: { geoTag: "eu" } },
    valid: false,
  },
  {
    name: "a zone in its parent",
    kind: "zonedelegations.k8gb.io",
    object: zone("cloud.example.com"),
    valid: true,
  },
  {
    name: "a zone that is its parent",
    kind: "zonedelegations.k8gb.io",
    object: zone("example.com"),
    valid: false,
  },
  {
    name: "a zone beside its parent",
    kind: "zonedelegations.k8gb.io",
    object: zone("mycloudexample.com"),
    valid: false,
  },
  {
    name: "a zone without negative TTL",
    kind: "zonedelegations.k8gb.io",
    object: { spec: { loadBalancedZone: "a.b", parentZone: "b" } },
    valid: false,
  },
];

for (const { name, kind, object, valid } of cases) {
  test(`${kind} ${valid ? "admits" : "refuses"} ${name}`, () => {
    assert.equal(schemaOf(kind).validate(object).length === 0, valid);
  });
}

test("the health policy defaults to Any, and not in the legacy group, which does not know it", () => {
  const defaulted = (kind: string): unknown => schemaOf(kind).applyDefaults({ spec: { strategy } });
  assert.deepEqual(defaulted("gslbs.k8gb.io"), { spec: { strategy, serviceHealthPolicy: "Any" } });
  assert.deepEqual(defaulted("gslbs.k8gb.absa.oss"), { spec: { strategy } });
});
