import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "@meridian/kube";
import type { Gslb } from "../resources/gslb.ts";
import { fakeSource } from "../testdata/fake-source.ts";
import { resolveReference } from "./resolve-reference.ts";

// What routes of the Gateway API and VirtualServices of Istio lead to: k8gb's tables, and what it gets wrong.

const gatewayApi = "gateway.networking.k8s.io";
const istio = "networking.istio.io";

interface ObjectFields {
  readonly name: string;
  readonly namespace?: string;
  readonly spec?: object;
  readonly status?: object;
}

function object(apiVersion: string, kind: string, fields: ObjectFields): KubeObject {
  const { name, namespace = "demo", ...rest } = fields;
  return { apiVersion, kind, metadata: { name, namespace }, ...rest };
}

interface Backend {
  readonly name: string;
  readonly namespace?: string;
  readonly weight?: number;
}

const route = (kind: string, spec: object, version = "v1"): KubeObject =>
  object(`${gatewayApi}/${version}`, kind, {
    name: "app",
    spec: { parentRefs: [{ name: "edge" }], ...spec },
  });
const to = (...backendRefs: readonly Backend[]): object => ({ rules: [{ backendRefs }] });

const gateway = (name: string, addresses: readonly object[], fields: object = {}): KubeObject =>
  object(`${gatewayApi}/v1`, "Gateway", { name, status: { addresses }, ...fields });
const ip = (value: string): object => ({ type: "IPAddress", value });

const virtualService = (spec: object, version = "v1"): KubeObject =>
  object(`${istio}/${version}`, "VirtualService", { name: "app", spec });
const toHosts = (...hosts: readonly string[]): object => ({
  http: hosts.map((host) => ({ route: [{ destination: { host } }] })),
});
const istioGateway = (
  name: string,
  selector: Readonly<Record<string, string>>,
  namespace = "demo",
): KubeObject => object(`${istio}/v1`, "Gateway", { name, namespace, spec: { selector } });

function service(
  name: string,
  fields: {
    readonly namespace?: string;
    readonly type?: string;
    readonly labels?: object;
    readonly ips?: readonly string[];
  } = {},
): KubeObject {
  const {
    namespace = "demo",
    type = "LoadBalancer",
    labels = { app: "ingress" },
    ips = ["192.0.2.1"],
  } = fields;
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace, labels: labels as Readonly<Record<string, string>> },
    spec: { type },
    status: { loadBalancer: { ingress: ips.map((each) => ({ ip: each })) } },
  } as KubeObject;
}

function referTo(target: KubeObject, annotations: Readonly<Record<string, string>> = {}): Gslb {
  const { apiVersion, kind, metadata } = target;
  return {
    apiVersion: "k8gb.io/v1beta1",
    kind: "Gslb",
    metadata: { name: "g", namespace: "demo", annotations },
    spec: { resourceRef: { apiVersion: apiVersion!, kind: kind!, name: metadata.name! } },
  };
}

function serversText(gslb: Gslb, objects: readonly KubeObject[]): string {
  const { outcome } = resolveReference(gslb, fakeSource(objects));
  if (outcome.kind === "pending") return "pending";
  if (outcome.kind === "failed") return `${outcome.reason}${outcome.gone ? " gone" : ""}: ${outcome.message}`;
  return outcome.servers
    .map(
      ({ host, services }) => `${host}=${services.map((each) => `${each.namespace}/${each.name}`).join("+")}`,
    )
    .join(" ");
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
      assert.equal(serversText(referTo(target), [target]), expect);
    });
}

for (const kind of nameless) {
  const target = route(kind, to({ name: "s" }, { name: "t", namespace: "o" }));
  test(`References, ${kind}: the annotation names the host`, () => {
    assert.equal(serversText(referTo(target, hostname), [target]), "app.x=demo/s+o/t");
  });
  for (const annotations of [{}, { "k8gb.io/hostname": "" }])
    test(`References, ${kind}: ${"k8gb.io/hostname" in annotations ? "an empty" : "no"} annotation is refused`, () => {
      assert.match(
        serversText(referTo(target, annotations), [target]),
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
        assert.equal(serversText(gslb, [stored]), "app.x=demo/s");
      });

for (const version of ["v1", "v1beta1", "v1alpha3"])
  test(`References: VirtualService ${version}`, () => {
    const target = virtualService({ hosts: ["app.x"], ...toHosts("s") }, version);
    assert.equal(serversText(referTo(target), [target]), "app.x=demo/s");
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
    assert.equal(serversText(referTo(target), [target]), expect);
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
    return serversText(referTo(target), [target, edge]);
  };
  assert.equal(hostsOf([{ name: "edge" }]), "web.x=demo/s *.apps.x=demo/s");
  assert.equal(hostsOf([{ name: "edge", sectionName: "wild" }]), "*.apps.x=demo/s");
  assert.equal(hostsOf([{ name: "edge", port: 80 }]), "web.x=demo/s");
});

test("an unsupported kind is told with all that are supported", () => {
  const text = serversText(referTo(object("v9", "Foo", { name: "x" })), []);
  assert.match(text, /^UnsupportedKind: APIVersion:v9, Kind:Foo not supported; .* TLSRoute \(.*v1alpha3/);
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
  assert.equal(serversText(select(), [own, other]), "d.x=demo/s");
  assert.equal(serversText(select("other"), [own, other]), "o.x=other/s");
  assert.match(
    serversText(select("third"), [own, other]),
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

interface ReachedCase {
  readonly name: string;
  readonly target: KubeObject;
  readonly objects: readonly KubeObject[];
  readonly states?: Parameters<typeof fakeSource>[1];
  /** Addresses and names, `?` where the last known ones stand in, and the start of each problem. */
  readonly expect: readonly (string | RegExp)[];
}

const web = route("HTTPRoute", { hostnames: ["app.x"] });
const attached = (...parentRefs: readonly object[]): KubeObject =>
  route("HTTPRoute", { hostnames: ["app.x"], parentRefs });
const viaIstio = (...gateways: readonly string[]): KubeObject =>
  virtualService({ hosts: ["app.x"], gateways });
const selecting = istioGateway("edge", { app: "ingress" });

const reached: readonly ReachedCase[] = [
  {
    name: "no status is no error",
    target: web,
    objects: [object(`${gatewayApi}/v1`, "Gateway", { name: "edge" })],
    expect: [],
  },
  { name: "one address", target: web, objects: [gateway("edge", [ip("192.0.2.1")])], expect: ["192.0.2.1"] },
  {
    name: "two, of which one says no type",
    target: web,
    objects: [gateway("edge", [ip("192.0.2.1"), { value: "2001:db8::1" }])],
    expect: ["192.0.2.1", "2001:db8::1"],
  },
  {
    name: "F-05: one of type Hostname",
    target: web,
    objects: [gateway("edge", [{ type: "Hostname", value: "lb.test" }])],
    expect: ["lb.test"],
  },
  {
    name: "one of another type is told, and the others count",
    target: web,
    objects: [gateway("edge", [{ type: "NamedAddress", value: "pool" }, ip("192.0.2.1")])],
    expect: ["192.0.2.1", /demo\/edge has the address pool of type NamedAddress/],
  },
  {
    name: "D17: a Gateway that is gone",
    target: web,
    objects: [],
    expect: [/Gateway demo\/edge, which demo\/app names, does not exist/],
  },
  {
    name: "a Gateway in another namespace",
    target: attached({ name: "edge", namespace: "infra" }),
    objects: [{ ...gateway("edge", [ip("192.0.2.9")]), metadata: { name: "edge", namespace: "infra" } }],
    expect: ["192.0.2.9"],
  },
  {
    name: "a parent that is no Gateway is skipped",
    target: attached({ kind: "Service", group: "", name: "mesh" }, { name: "edge" }),
    objects: [gateway("edge", [ip("192.0.2.1")])],
    expect: ["192.0.2.1"],
  },
  {
    name: "no Gateway at all",
    target: attached({ kind: "Service", group: "", name: "mesh" }),
    objects: [],
    expect: [/names no Gateway in spec.parentRefs/],
  },
  {
    name: "F-05: the addresses of all parents",
    target: attached({ name: "a" }, { name: "b" }),
    objects: [gateway("a", [ip("192.0.2.1")]), gateway("b", [ip("192.0.2.2")])],
    expect: ["192.0.2.1", "192.0.2.2"],
  },
  {
    name: "F-05: of several Gateways one that is not programmed is left out",
    target: attached({ name: "a" }, { name: "b" }),
    objects: [
      gateway("a", [ip("192.0.2.1")], {
        status: { addresses: [ip("192.0.2.1")], conditions: [{ type: "Programmed", status: "False" }] },
      }),
      gateway("b", [ip("192.0.2.2")]),
    ],
    expect: ["192.0.2.2"],
  },
  {
    name: "of two Gateways one is gone: the other's count, and it is told",
    target: attached({ name: "a" }, { name: "b" }),
    objects: [gateway("b", [ip("192.0.2.2")])],
    expect: ["192.0.2.2", /Gateway demo\/a/],
  },
  {
    name: "a ListenerSet leads to its Gateway",
    target: attached({ kind: "ListenerSet", name: "set" }),
    objects: [
      object(`${gatewayApi}/v1`, "ListenerSet", { name: "set", spec: { parentRef: { name: "edge" } } }),
      gateway("edge", [ip("192.0.2.1")]),
    ],
    expect: ["192.0.2.1"],
  },
  {
    name: "no kind Gateway in the cluster",
    target: web,
    objects: [],
    states: { "gateways.gateway.networking.k8s.io": { is: "absent" } },
    expect: [/this cluster has no Gateway/],
  },
  {
    name: "Gateways that are not read yet",
    target: web,
    objects: [],
    states: { "gateways.gateway.networking.k8s.io": { is: "waiting" } },
    expect: ["?"],
  },
  {
    name: "Gateways that may not be read",
    target: web,
    objects: [],
    states: { "gateways.gateway.networking.k8s.io": { is: "unreadable", message: "forbidden" } },
    expect: ["?", /cannot be read: forbidden/],
  },

  {
    name: "Istio: the one Service that the Gateway selects, in any namespace",
    target: viaIstio("demo/edge"),
    objects: [selecting, service("in", { namespace: "istio-ingress" })],
    expect: ["192.0.2.1"],
  },
  {
    name: "Istio: mesh is not counted",
    target: viaIstio("mesh", "demo/edge"),
    objects: [selecting, service("in")],
    expect: ["192.0.2.1"],
  },
  {
    name: "D26: a Gateway without namespace is in the VirtualService's",
    target: viaIstio("edge"),
    objects: [selecting, service("in")],
    expect: ["192.0.2.1"],
  },
  {
    name: "D26: a Gateway in ./, or by the name of a Service",
    target: viaIstio("./edge", "edge.demo.svc.cluster.local"),
    objects: [selecting, service("in")],
    expect: ["192.0.2.1"],
  },
  {
    name: "Istio: only mesh, or nothing",
    target: viaIstio("mesh"),
    objects: [],
    expect: [/names no Gateway in spec.gateways/],
  },
  {
    name: "Istio: no Service has the labels",
    target: viaIstio("edge"),
    objects: [selecting],
    expect: [/exactly 1 Service .* Gateway demo\/edge, and none has;/],
  },
  {
    name: "Istio: two Services have the labels",
    target: viaIstio("edge"),
    objects: [selecting, service("a"), service("b")],
    expect: [/exactly 1 Service .* and more has among demo\/a, demo\/b/],
  },
  {
    name: "Istio: of two Services the one of type LoadBalancer",
    target: viaIstio("edge"),
    objects: [selecting, service("a", { type: "ClusterIP" }), service("b", { ips: ["192.0.2.2"] })],
    expect: ["192.0.2.2"],
  },
  {
    name: "Istio: a Service without address is no error",
    target: viaIstio("edge"),
    objects: [selecting, service("a", { ips: [] })],
    expect: [],
  },
  {
    name: "Istio: two Gateways, one gone",
    target: viaIstio("edge", "infra/gone"),
    objects: [selecting, service("a")],
    expect: ["192.0.2.1", /Gateway infra\/gone/],
  },
  {
    name: "a Service of type LoadBalancer",
    target: service("s", { ips: ["192.0.2.1", "192.0.2.2"] }),
    objects: [],
    expect: ["192.0.2.1", "192.0.2.2"],
  },
  {
    name: "a Service of another type",
    target: service("s", { type: "ClusterIP" }),
    objects: [],
    expect: [/Service demo\/s is of type ClusterIP; it must be LoadBalancer, or the annotation/],
  },
];

for (const { name, target, objects, states, expect } of reached)
  test(`Exposed IPs: ${name}`, () => {
    const source = fakeSource([target, ...objects], states);
    const { entries, isUnknown, problems } = resolveReference(referTo(target, hostname), source).reachedAt();
    const found = [...new Set(entries.flatMap((entry) => entry.ip ?? entry.hostname ?? []))];
    const texts = expect.filter((each) => typeof each === "string");
    assert.deepEqual([...found, ...(isUnknown ? ["?"] : [])], texts);
    const patterns = expect.filter((each) => each instanceof RegExp);
    assert.equal(problems.length, patterns.length, problems.join("; "));
    for (const [index, pattern] of patterns.entries()) assert.match(problems[index]!, pattern);
  });
