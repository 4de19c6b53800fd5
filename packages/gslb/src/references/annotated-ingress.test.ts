import assert from "node:assert/strict";
import { test } from "node:test";
import type { Ingress, OwnerReference } from "@meridian/kube";
import { annotatedIngress } from "./annotated-ingress.ts";

const strategy = "k8gb.io/strategy";
const primary = "k8gb.io/primary-geotag";
const ttl = "k8gb.io/dns-ttl-seconds";
const exposed = "k8gb.io/exposed-ip-addresses";

function ingress(
  annotations: Readonly<Record<string, string>>,
  ownerReferences: readonly OwnerReference[] = [],
): Ingress {
  const metadata = { name: "app", namespace: "demo", uid: "i1", annotations, ownerReferences };
  return { apiVersion: "networking.k8s.io/v1", kind: "Ingress", metadata, spec: {} };
}

const ownedBy = (kind: string, apiVersion: string): readonly OwnerReference[] => [
  { apiVersion, kind, name: "app", uid: "g1", controller: true },
];

test("Annotated Ingress: the Gslb has the Ingress' name, refers to it and is owned by it", () => {
  const asked = annotatedIngress(
    ingress({ [strategy]: "roundRobin", app: "x", "k8gb.io/exposed-hostnames": "lb.x" }),
  );
  assert.ok(asked.asks === "gslb");
  assert.deepEqual(asked.gslb, {
    apiVersion: "k8gb.io/v1beta1",
    kind: "Gslb",
    metadata: {
      name: "app",
      namespace: "demo",
      ownerReferences: [
        {
          ...{ apiVersion: "networking.k8s.io/v1", kind: "Ingress", name: "app", uid: "i1" },
          ...{ controller: true, blockOwnerDeletion: true },
        },
      ],
    },
    spec: {
      resourceRef: { apiVersion: "networking.k8s.io/v1", kind: "Ingress", name: "app" },
      strategy: { type: "roundRobin", dnsTtlSeconds: 30 },
    },
  });
});

test("Annotated Ingress: primary, TTL and exposed addresses are taken over", () => {
  const annotations = { [strategy]: "failover", [primary]: "eu", [ttl]: "5", [exposed]: "10.0.0.1,10.0.0.2" };
  const asked = annotatedIngress(ingress(annotations));
  assert.ok(asked.asks === "gslb");
  assert.deepEqual(asked.gslb.spec?.strategy, { type: "failover", dnsTtlSeconds: 5, primaryGeoTag: "eu" });
  assert.deepEqual(asked.gslb.metadata.annotations, { [exposed]: "10.0.0.1,10.0.0.2" });
});

const others: readonly (readonly [name: string, ingress: Ingress, asks: string])[] = [
  ["no annotation asks for nothing", ingress({ [primary]: "eu" }), "nothing"],
  [
    "one of a Gslb asks for nothing",
    ingress({ [strategy]: "roundRobin" }, ownedBy("Gslb", "k8gb.io/v1beta1")),
    "nothing",
  ],
  [
    "one of a legacy Gslb asks for nothing",
    ingress({ [strategy]: "roundRobin" }, ownedBy("Gslb", "k8gb.absa.oss/v1beta1")),
    "nothing",
  ],
  [
    "one of somebody else asks",
    ingress({ [strategy]: "roundRobin" }, ownedBy("App", "example.org/v1")),
    "gslb",
  ],
  ["failover without primary is refused", ingress({ [strategy]: "failover" }), "refused"],
  [
    "failover with an empty primary is refused",
    ingress({ [strategy]: "failover", [primary]: "" }),
    "refused",
  ],
  ["a TTL that is no number is refused", ingress({ [strategy]: "roundRobin", [ttl]: "5s" }), "refused"],
  ["a negative TTL is refused", ingress({ [strategy]: "roundRobin", [ttl]: "-1" }), "refused"],
  ["a broken TTL is refused", ingress({ [strategy]: "roundRobin", [ttl]: "1.5" }), "refused"],
];

for (const [name, given, asks] of others)
  test(`Annotated Ingress: ${name}`, () => {
    const asked = annotatedIngress(given);
    assert.equal(asked.asks, asks);
    if (asked.asks === "refused") assert.match(asked.problem, /^annotation k8gb\.io\/.*for example/);
  });

test("all that is wrong with the annotations is told at once", () => {
  const asked = annotatedIngress(ingress({ [strategy]: "failover", [ttl]: "5s" }));
  assert.equal(asked.asks, "refused");
  if (asked.asks === "refused") assert.match(asked.problem, /primary-geotag.*; .*dns-ttl-seconds is "5s"/);
});
