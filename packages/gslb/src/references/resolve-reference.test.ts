import assert from "node:assert/strict";
import { test } from "node:test";
import type { Ingress, KubeObject, Service } from "@meridian/kube";
import type { Gslb, GslbSpec } from "../resources/gslb.ts";
import { fakeSource } from "../testdata/fake-source.ts";
import { serversOfIngress } from "./ingress-kind.ts";
import { resolveReference } from "./resolve-reference.ts";

function ingress(
  name: string,
  hosts: Readonly<Record<string, readonly string[]>>,
  labels: Readonly<Record<string, string>> = {},
): Ingress {
  const rules = Object.entries(hosts).map(([host, services]) => ({
    host,
    http: {
      paths: services.map((service) => ({
        path: "/",
        pathType: "Prefix",
        backend: { service: { name: service, port: { number: 80 } } },
      })),
    },
  }));
  const status = { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } };
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name, namespace: "demo", labels },
    spec: { rules },
    status,
  };
}

function service(name: string, type: string): Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: "demo" },
    spec: { type },
    status: { loadBalancer: { ingress: [{ hostname: "lb.example.net" }] } },
  };
}

function gslb(spec: GslbSpec, annotations: Readonly<Record<string, string>> = {}): Gslb {
  return {
    apiVersion: "k8gb.io/v1beta1",
    kind: "Gslb",
    metadata: { name: "g", namespace: "demo", annotations },
    spec,
  };
}

const toIngress = { apiVersion: "networking.k8s.io/v1", kind: "Ingress" };
const app = ingress("app", { "app.x": ["front"] }, { team: "a" });
const other = ingress("other", { "other.x": ["back"] }, { team: "a" });

const outcomes: readonly {
  readonly name: string;
  readonly gslb: Gslb;
  readonly objects: readonly KubeObject[];
  readonly expect: string;
}[] = [
  {
    name: "by name",
    gslb: gslb({ resourceRef: { ...toIngress, name: "app" } }),
    objects: [app, other],
    expect: "app.x=demo/front",
  },
  {
    name: "by name, which hides a selector",
    gslb: gslb({ resourceRef: { ...toIngress, name: "other", matchLabels: { team: "none" } } }),
    objects: [app, other],
    expect: "other.x=demo/back",
  },
  {
    name: "by name in a namespace",
    gslb: gslb({ resourceRef: { ...toIngress, name: "app", namespace: "demo" } }),
    objects: [app],
    expect: "app.x=demo/front",
  },
  {
    name: "by label",
    gslb: gslb({ resourceRef: { ...toIngress, matchLabels: { team: "a" } } }),
    objects: [app],
    expect: "app.x=demo/front",
  },
  {
    name: "by expression",
    gslb: gslb({
      resourceRef: { ...toIngress, matchExpressions: [{ key: "team", operator: "In", values: ["a", "b"] }] },
    }),
    objects: [app],
    expect: "app.x=demo/front",
  },
  {
    name: "a Service with its host in an annotation, whose final dot is left out",
    gslb: gslb(
      { resourceRef: { apiVersion: "v1", kind: "Service", name: "lb" } },
      { "k8gb.io/hostname": "App.x." },
    ),
    objects: [service("lb", "LoadBalancer")],
    expect: "App.x=demo/lb",
  },
  {
    name: "a Service with a host that ends in two dots, which stay, so that it is refused",
    gslb: gslb(
      { resourceRef: { apiVersion: "v1", kind: "Service", name: "lb" } },
      { "k8gb.io/hostname": "app.x.." },
    ),
    objects: [service("lb", "LoadBalancer")],
    expect: "app.x..=demo/lb",
  },
  {
    name: "missing by name",
    gslb: gslb({ resourceRef: { ...toIngress, name: "app" } }),
    objects: [],
    expect: "NotFound gone",
  },
  {
    name: "missing by label",
    gslb: gslb({ resourceRef: { ...toIngress, matchLabels: { team: "b" } } }),
    objects: [app],
    expect: "NotFound gone",
  },
  {
    name: "two by label",
    gslb: gslb({ resourceRef: { ...toIngress, matchLabels: { team: "a" } } }),
    objects: [app, other],
    expect: "NotExactlyOne",
  },
  {
    name: "neither name nor selector",
    gslb: gslb({ resourceRef: toIngress }),
    objects: [app],
    expect: "InvalidReference",
  },
  {
    name: "an unsupported kind",
    gslb: gslb({ resourceRef: { apiVersion: "v9", kind: "Foo", name: "x" } }),
    objects: [app],
    expect: "UnsupportedKind",
  },
  {
    name: "an operator that is none",
    gslb: gslb({ resourceRef: { ...toIngress, matchExpressions: [{ key: "team", operator: "Like" }] } }),
    objects: [app],
    expect: "InvalidReference",
  },
  { name: "nothing at all", gslb: gslb({}), objects: [], expect: "InvalidReference" },
  {
    name: "a Service of type LoadBalancer",
    gslb: gslb(
      { resourceRef: { apiVersion: "v1", kind: "Service", name: "s" } },
      { "k8gb.io/hostname": "s.x" },
    ),
    objects: [service("s", "LoadBalancer")],
    expect: "s.x=demo/s",
  },
  {
    name: "a Service without host annotation",
    gslb: gslb({ resourceRef: { apiVersion: "v1", kind: "Service", name: "s" } }),
    objects: [service("s", "LoadBalancer")],
    expect: "InvalidReference",
  },
  {
    name: "a Service with an empty host annotation",
    gslb: gslb({ resourceRef: { apiVersion: "v1", kind: "Service", name: "s" } }, { "k8gb.io/hostname": "" }),
    objects: [service("s", "LoadBalancer")],
    expect: "InvalidReference",
  },
  {
    name: "F-04: a Service of another type, which may have its address from elsewhere",
    gslb: gslb(
      { resourceRef: { apiVersion: "v1", kind: "Service", name: "s" } },
      { "k8gb.io/hostname": "s.x" },
    ),
    objects: [service("s", "ClusterIP")],
    expect: "s.x=demo/s",
  },
];

for (const { name, gslb: object, objects, expect } of outcomes) {
  test(`reference: ${name}`, () => {
    const { outcome } = resolveReference(object, fakeSource(objects));
    const text =
      outcome.kind !== "resolved"
        ? `${outcome.kind === "failed" ? outcome.reason : "pending"}${outcome.kind === "failed" && outcome.gone ? " gone" : ""}`
        : outcome.servers
            .map(
              ({ host, services }) =>
                `${host}=${services.map((each) => `${each.namespace}/${each.name}`).join("+")}`,
            )
            .join(" ");
    assert.equal(text, expect);
  });
}

test("an embedded spec names its hosts before its Ingress is there, and the Ingress the addresses", () => {
  const embedded = gslb({
    resourceRef: {},
    ingress: {
      rules: [
        { host: "e.x", http: { paths: [{ pathType: "Prefix", backend: { service: { name: "front" } } }] } },
      ],
    },
  });
  const before = resolveReference(embedded, fakeSource([]));
  assert.deepEqual(
    [before.target.by, before.outcome, before.reachedAt().entries],
    [
      "embedded",
      { kind: "resolved", servers: [{ host: "e.x", services: [{ namespace: "demo", name: "front" }] }] },
      [],
    ],
  );
  assert.deepEqual(resolveReference(embedded, fakeSource([ingress("g", {})])).reachedAt().entries, [
    { ip: "192.0.2.1" },
  ]);
});

test("an Ingress' rules of one host are one server; empty names and backends without Service are left out", () => {
  const rules = [
    {
      host: "a.x",
      http: {
        paths: [
          { backend: { service: { name: "one" } } },
          { backend: { service: { name: "two" } } },
          { backend: { service: { name: "" } } },
        ],
      },
    },
    { host: "b.x", http: { paths: [{ backend: { resource: { kind: "Bucket", name: "b" } } }] } },
    { host: "A.x", http: { paths: [{ backend: { service: { name: "three" } } }] } },
    { http: { paths: [{ backend: { service: { name: "hostless" } } }] } },
    { host: "c.x" },
  ];
  const names = serversOfIngress({ metadata: { namespace: "demo" }, spec: { rules } }).map(
    ({ host, services }) => [host, ...services.map(({ name }) => name)],
  );
  assert.deepEqual(names, [["a.x", "one", "two", "three"], ["b.x"], ["c.x"]]);
});
