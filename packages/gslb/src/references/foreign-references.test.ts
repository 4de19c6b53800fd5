import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "@meridian/kube";
import type { Gslb } from "../resources/gslb.ts";
import { fakeSource } from "../testdata/fake-source.ts";
import {
  gateway,
  gatewayApi,
  object,
  referTo,
  route,
  serversText,
  to,
  toHosts,
  virtualService,
} from "../testdata/foreign-objects.ts";
import { resolveReference } from "./resolve-reference.ts";

// What routes of the Gateway API and VirtualServices of Istio lead to: k8gb's tables, and what it gets wrong.

function serversOf(gslb: Gslb, objects: readonly KubeObject[]): string {
  // As for k8gb, which knows no grants.
  const source = fakeSource(objects, { "referencegrants.gateway.networking.k8s.io": { is: "absent" } });
  return serversText(resolveReference(gslb, source).outcome);
}

const named = ["HTTPRoute", "GRPCRoute", "TLSRoute"];
const nameless = ["TCPRoute", "UDPRoute"];
const hostname = { "k8gb.io/hostname": "app.x" };

for (const kind of named) {
  const cases: readonly (readonly [name: string, spec: object, expect: string])[] = [
    [
      "a backend without namespace is in the route's",
      { hostnames: ["app.x"], ...to({ name: "s" }) },
      "app.x=demo/s",
    ],
    [
      "a backend with a namespace is in that",
      { hostnames: ["app.x"], ...to({ name: "s", namespace: "o" }) },
      "app.x=o/s",
    ],
    [
      "each of two hosts has all backends",
      { hostnames: ["a.x", "b.x"], ...to({ name: "s" }, { name: "t" }) },
      "a.x=demo/s+demo/t b.x=demo/s+demo/t",
    ],
    [
      "backends of all rules count, each once",
      {
        hostnames: ["a.x"],
        rules: [{ backendRefs: [{ name: "s" }] }, {}, { backendRefs: [{ name: "t" }, { name: "s" }] }],
      },
      "a.x=demo/s+demo/t",
    ],
    [
      "a backend of weight 0 is sent nothing, so it does not count",
      { hostnames: ["a.x"], ...to({ name: "s", weight: 0 }, { name: "t", weight: 1 }) },
      "a.x=demo/t",
    ],
    ["one host in two spellings is one", { hostnames: ["A.x", "a.x."], ...to({ name: "s" }) }, "A.x=demo/s"],
  ];
  for (const [name, spec, expect] of cases)
    test(`References, ${kind}: ${name}`, () => {
      const target = route(kind, spec);
      assert.equal(serversOf(referTo(target), [target]), expect);
    });
}

for (const kind of nameless) {
  const target = route(kind, to({ name: "s" }, { name: "t", namespace: "o" }));
  test(`References, ${kind}: the annotation names the host`, () => {
    assert.equal(serversOf(referTo(target, hostname), [target]), "app.x=demo/s+o/t");
  });
  for (const annotations of [{}, { "k8gb.io/hostname": "" }])
    test(`References, ${kind}: ${"k8gb.io/hostname" in annotations ? "an empty" : "no"} annotation is refused`, () => {
      assert.match(
        serversOf(referTo(target, annotations), [target]),
        new RegExp(`^InvalidReference: a reference to a ${kind} needs the annotation k8gb.io/hostname`),
      );
    });
}

const versions: Readonly<Record<string, readonly string[]>> = {
  HTTPRoute: ["v1", "v1beta1"],
  GRPCRoute: ["v1", "v1alpha2"],
  TLSRoute: ["v1", "v1alpha2", "v1alpha3"],
  TCPRoute: ["v1", "v1alpha2"],
  UDPRoute: ["v1", "v1alpha2"],
};
for (const [kind, all] of Object.entries(versions))
  for (const asked of all)
    for (const served of all)
      test(`References: ${kind} ${asked} is found where the cluster serves ${served}`, () => {
        const stored = route(kind, { hostnames: ["app.x"], ...to({ name: "s" }) }, served);
        const gslb = referTo({ ...stored, apiVersion: `${gatewayApi}/${asked}` }, hostname);
        assert.equal(serversOf(gslb, [stored]), "app.x=demo/s");
      });

for (const version of ["v1", "v1beta1", "v1alpha3"])
  test(`References: VirtualService ${version}`, () => {
    const target = virtualService({ hosts: ["app.x"], ...toHosts("s") }, version);
    assert.equal(serversOf(referTo(target), [target]), "app.x=demo/s");
  });

const virtualServices: readonly (readonly [name: string, spec: object, expect: string])[] = [
  ["two hosts share the service", { hosts: ["a.x", "b.x"], ...toHosts("s") }, "a.x=demo/s b.x=demo/s"],
  ["two routes are two services", { hosts: ["a.x"], ...toHosts("s", "t") }, "a.x=demo/s+demo/t"],
  [
    "tls and tcp routes count as well",
    {
      hosts: ["a.x"],
      tls: [{ route: [{ destination: { host: "s" } }] }],
      tcp: [{ route: [{ destination: { host: "t" } }] }],
    },
    "a.x=demo/s+demo/t",
  ],
  [
    "D26: a destination by its full name is the Service that it names",
    { hosts: ["a.x"], ...toHosts("s.other.svc.cluster.local", "t.other.svc", "u.other", "v") },
    "a.x=other/s+other/t+other/u+demo/v",
  ],
  [
    "D26: a name outside the cluster is no Service of it",
    { hosts: ["a.x"], ...toHosts("api.example.org") },
    "a.x=demo/api.example.org",
  ],
  [
    "D26: a route without destination is none",
    { hosts: ["a.x"], http: [{ redirect: {} }, { route: [{}] }] },
    "a.x=",
  ],
  [
    "names that only the mesh asks for are no hosts",
    { hosts: ["a.x", "reviews", "reviews.demo.svc.cluster.local"], ...toHosts("s") },
    "a.x=demo/s",
  ],
  [
    "a destination of weight 0 among others does not count",
    {
      hosts: ["a.x"],
      http: [
        {
          route: [
            { destination: { host: "s" }, weight: 0 },
            { destination: { host: "t" }, weight: 100 },
          ],
        },
      ],
    },
    "a.x=demo/t",
  ],
  ["no host at all", toHosts("s"), ""],
];
for (const [name, spec, expect] of virtualServices)
  test(`References, VirtualService: ${name}`, () => {
    const target = virtualService(spec);
    assert.equal(serversOf(referTo(target), [target]), expect);
  });

test("F-05: a route without hosts serves those of the listeners that it attaches to", () => {
  const listeners = [
    { name: "web", port: 80, hostname: "web.x" },
    { name: "any", port: 80 },
    { name: "wild", port: 443, hostname: "*.apps.x" },
  ];
  const edge = gateway("edge", [], { spec: { listeners } });
  const hostsOf = (parentRefs: readonly object[]): string => {
    const target = route("HTTPRoute", { parentRefs, ...to({ name: "s" }) });
    return serversOf(referTo(target), [target, edge]);
  };
  assert.equal(hostsOf([{ name: "edge" }]), "web.x=demo/s *.apps.x=demo/s");
  assert.equal(hostsOf([{ name: "edge", sectionName: "wild" }]), "*.apps.x=demo/s");
  assert.equal(hostsOf([{ name: "edge", port: 80 }]), "web.x=demo/s");
});

test("an unsupported kind is told with all that are supported, and a wrong version with those of its kind", () => {
  const text = serversOf(referTo(object("v9", "Foo", { name: "x" })), []);
  assert.match(
    text,
    /^UnsupportedKind: APIVersion:v9, Kind:Foo not supported; .* Service \(v1\), .* TLSRoute \(/,
  );
  assert.equal(
    serversOf(referTo(object("v1", "TCPRoute", { name: "x" })), []),
    "UnsupportedKind: APIVersion:v1, Kind:TCPRoute not supported; spec.resourceRef.apiVersion of TCPRoute must be " +
      "gateway.networking.k8s.io/v1 or gateway.networking.k8s.io/v1alpha2",
  );
});

test("D27: a selector looks in the namespace that the reference names, or else in the Gslb's", () => {
  const inOther = { ...route("HTTPRoute", { hostnames: ["o.x"], ...to({ name: "s" }) }) };
  const labels = { team: "a" };
  const other = { ...inOther, metadata: { name: "o", namespace: "other", labels } };
  const own = {
    ...route("HTTPRoute", { hostnames: ["d.x"], ...to({ name: "s" }) }),
    metadata: { name: "d", namespace: "demo", labels },
  };
  const select = (namespace?: string): Gslb => ({
    ...referTo(own),
    spec: {
      resourceRef: {
        ...{ apiVersion: `${gatewayApi}/v1`, kind: "HTTPRoute", matchLabels: labels },
        ...(namespace === undefined ? {} : { namespace }),
      },
    },
  });
  assert.equal(serversOf(select(), [own, other]), "d.x=demo/s");
  assert.equal(serversOf(select("other"), [own, other]), "o.x=other/s");
  assert.match(
    serversOf(select("third"), [own, other]),
    /^NotFound gone: exactly 1 HTTPRoute .* 0 .* namespace third/,
  );
});

test("a kind that the cluster does not have, or nobody may read, is told apart from an object that is missing", () => {
  const gslb = referTo(route("HTTPRoute", {}));
  const httpRoutes = "httproutes.gateway.networking.k8s.io";
  const told = (state: Parameters<typeof fakeSource>[1]): string => {
    const { outcome } = resolveReference(gslb, fakeSource([], state));
    return outcome.kind === "failed" ? `${outcome.reason} ${outcome.gone}` : outcome.kind;
  };
  assert.equal(told({}), "NotFound true");
  assert.equal(told({ [httpRoutes]: { is: "absent" } }), "KindNotServed true");
  assert.equal(told({ [httpRoutes]: { is: "unreadable", message: "forbidden" } }), "KindUnreadable false");
  assert.equal(told({ [httpRoutes]: { is: "waiting" } }), "pending");
});

test("an object that is not as its kind should be is told, and is nobody else's trouble", () => {
  const odd: readonly KubeObject[] = [
    route("HTTPRoute", { hostnames: "app.x" }),
    route("HTTPRoute", { hostnames: ["app.x"], rules: {} }),
    virtualService({ hosts: { a: 1 } }),
    virtualService({ hosts: ["app.x"], http: [{ route: "s" }] }),
  ];
  for (const target of odd)
    assert.match(
      serversOf(referTo(target), [target]),
      /^InvalidReference: (HTTPRoute|VirtualService) demo\/app is not as its kind should be: /,
    );
  const lost = route("HTTPRoute", { hostnames: ["app.x"], parentRefs: "edge" });
  const { entries, isUnknown, problems } = resolveReference(referTo(lost), fakeSource([lost])).reachedAt();
  assert.deepEqual([entries, isUnknown, problems.length], [[], true, 1]);
});
