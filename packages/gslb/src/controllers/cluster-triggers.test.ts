import assert from "node:assert/strict";
import { test } from "node:test";
import {
  endpointSliceType,
  ingressType,
  serviceType,
  type KubeObject,
  type ResourceType,
} from "@meridian/kube";
import { gatewayObjects, httpRouteObjects, tlsRouteObjects } from "../resources/gateway-api.ts";
import { istioGatewayObjects, virtualServiceObjects } from "../resources/istio.ts";
import { dnsEndpointType, gslbType } from "../resources/resource-types.ts";
import { openGslbWorld, type GslbWorld } from "../testdata/gslb-world.ts";

// Which Gslbs are reconciled after one change in the cluster: those that it concerns, each once, and no other.

const gatewayApi = "gateway.networking.k8s.io";
const istio = "networking.istio.io/v1";

interface Fields {
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: object;
  readonly status?: object;
  readonly endpoints?: readonly object[];
}

/** @param type as in `v1 Service` */
function object(type: string, name: string, fields: Fields = {}): KubeObject {
  const [apiVersion, kind] = type.split(" ");
  const { namespace = "demo", labels = {}, annotations = {}, ...rest } = fields;
  return { apiVersion, kind, metadata: { name, namespace, labels, annotations }, ...rest } as KubeObject;
}

const host = (name: string): string => `${name}.cloud.example.com`;
const ingress = (name: string, fields: Fields & { readonly service?: string } = {}): KubeObject =>
  object("networking.k8s.io/v1 Ingress", name, {
    spec: {
      rules: [
        {
          host: host(name),
          http: { paths: [{ backend: { service: { name: fields.service ?? `s-${name}` } } }] },
        },
      ],
    },
    status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } },
    ...fields,
  });
const service = (name: string, fields: Fields = {}): KubeObject =>
  object("v1 Service", name, {
    spec: { type: "LoadBalancer" },
    status: { loadBalancer: { ingress: [{ ip: "192.0.2.7" }] } },
    ...fields,
  });
const slice = (
  of: string,
  number: number,
  fields: { readonly ready?: readonly boolean[]; readonly namespace?: string } = {},
): KubeObject =>
  object("discovery.k8s.io/v1 EndpointSlice", `${of}-${number}`, {
    namespace: fields.namespace ?? "demo",
    labels: { "kubernetes.io/service-name": of },
    endpoints: (fields.ready ?? [true]).map((ready) => ({ addresses: ["10.0.0.1"], conditions: { ready } })),
  });
const route = (
  kind: string,
  name: string,
  fields: Fields & { readonly gateway?: string; readonly version?: string } = {},
): KubeObject =>
  object(`${gatewayApi}/${fields.version ?? "v1"} ${kind}`, name, {
    spec: {
      hostnames: [host(name)],
      parentRefs: [{ name: fields.gateway ?? "g1" }],
      rules: [{ backendRefs: [{ name: `s-${name}` }] }],
    },
    ...fields,
  });
const gateway = (name: string, status: object, fields: Fields = {}): KubeObject =>
  object(`${gatewayApi}/v1 Gateway`, name, { spec: { listeners: [] }, status, ...fields });
const at = (value: string): object => ({ addresses: [{ value }] });

function gslb(name: string, ref: object | undefined, fields: Fields = {}): KubeObject {
  const spec = {
    strategy: { type: "roundRobin" },
    ...(ref === undefined
      ? {
          ingress: {
            rules: [
              {
                host: host(name),
                http: { paths: [{ pathType: "Prefix", backend: { service: { name: `s-${name}` } } }] },
              },
            ],
          },
        }
      : { resourceRef: ref }),
  };
  return object("k8gb.io/v1beta1 Gslb", name, { spec, ...fields });
}

const toIngress = { apiVersion: "networking.k8s.io/v1", kind: "Ingress" };
const toRoute = (kind: string, version = "v1"): object => ({ apiVersion: `${gatewayApi}/${version}`, kind });
const exposed = { "k8gb.io/exposed-ip-addresses": "10.9.9.9" };

/** One Gslb for each way to refer. */
function fill({ truth, define }: GslbWorld): void {
  define(httpRouteObjects, "v1");
  define(tlsRouteObjects, "v1alpha3");
  define(gatewayObjects, "v1");
  define(virtualServiceObjects, "v1");
  define(istioGatewayObjects, "v1");
  const objects = [
    ingress("named"),
    gslb("named", { ...toIngress, name: "named" }),
    // Serves with the same Service.
    ingress("twin", { service: "s-named" }),
    gslb("twin", { ...toIngress, name: "twin" }),
    ingress("labelled", { labels: { team: "a" } }),
    gslb("labelled", { ...toIngress, matchLabels: { team: "a" } }),
    gslb("embedded", undefined),
    service("balancer"),
    gslb(
      "balancer",
      { apiVersion: "v1", kind: "Service", name: "balancer" },
      { annotations: { "k8gb.io/hostname": host("balancer") } },
    ),
    gateway("g1", at("192.0.2.2")),
    gateway("g2", at("192.0.2.3")),
    route("HTTPRoute", "http"),
    gslb("http", { ...toRoute("HTTPRoute"), name: "http" }),
    route("HTTPRoute", "told"),
    gslb("told", { ...toRoute("HTTPRoute"), name: "told" }, { annotations: exposed }),
    route("TLSRoute", "tls", { gateway: "g2", version: "v1alpha3" }),
    gslb("tls", { ...toRoute("TLSRoute", "v1alpha2"), name: "tls" }),
    // Its backend is in another namespace.
    route("HTTPRoute", "far", {
      spec: {
        hostnames: [host("far")],
        parentRefs: [{ name: "g2" }],
        rules: [{ backendRefs: [{ name: "s-far", namespace: "other" }] }],
      },
    }),
    gslb("far", { ...toRoute("HTTPRoute"), name: "far" }, { annotations: exposed }),
    service("s-far", { namespace: "other" }),
    object(`${istio} VirtualService`, "mesh", {
      spec: {
        hosts: [host("mesh")],
        gateways: ["edge"],
        http: [{ route: [{ destination: { host: "s-mesh" } }] }],
      },
    }),
    object(`${istio} Gateway`, "edge", { spec: { selector: { app: "gateway" } } }),
    service("istio", { namespace: "istio-ingress", labels: { app: "gateway" } }),
    gslb("mesh", { apiVersion: "networking.istio.io/v1beta1", kind: "VirtualService", name: "mesh" }),
    gslb("missing", { ...toIngress, name: "missing" }),
  ];
  for (const each of objects) truth.put(each);
  for (const name of ["named", "labelled", "embedded", "http", "told", "tls", "mesh", "missing"]) {
    truth.put(service(`s-${name}`, { spec: { type: "ClusterIP" }, status: {} }));
    truth.put(slice(`s-${name}`, 1));
  }
  truth.put(slice("balancer", 1));
}

interface Change {
  readonly name: string;
  readonly change: (world: GslbWorld) => void;
  readonly wakes: readonly string[];
}

const put =
  (...objects: readonly KubeObject[]) =>
  ({ truth }: GslbWorld): void => {
    for (const each of objects) truth.put(each);
  };
const remove =
  (type: ResourceType, name: string, namespace = "demo") =>
  ({ truth }: GslbWorld): void =>
    truth.remove(type, { name, namespace });
/** Changes what is stored. */
const change =
  (
    type: ResourceType,
    name: string,
    fields: { readonly metadata?: object; readonly namespace?: string } & Fields,
  ) =>
  ({ truth }: GslbWorld): void => {
    const { metadata, namespace = "demo", ...rest } = fields;
    const stored = truth.get(type, { name, namespace })!;
    truth.put({ ...stored, ...rest, metadata: { ...stored.metadata, ...metadata } });
  };
const inV1 = (
  kind:
    | typeof gatewayObjects
    | typeof httpRouteObjects
    | typeof istioGatewayObjects
    | typeof virtualServiceObjects,
  version = "v1",
): ResourceType => ({ ...kind, version });

const changes: readonly Change[] = [
  {
    name: "a slice with another number of ready endpoints wakes all whom its Service serves",
    change: put(slice("s-named", 1, { ready: [true, true] })),
    wakes: ["named", "twin"],
  },
  {
    name: "a slice that says the same of readiness wakes nobody",
    change: change(endpointSliceType, "s-named-1", {
      labels: {},
      metadata: { annotations: { touched: "x" } },
    }),
    wakes: [],
  },
  {
    name: "D19: a slice in another namespace, where a backend is",
    change: put(slice("s-far", 1, { namespace: "other" }), slice("s-far", 2)),
    wakes: ["far"],
  },
  { name: "a new slice", change: put(slice("s-http", 2)), wakes: ["http"] },
  { name: "a slice that goes", change: remove(endpointSliceType, "s-mesh-1"), wakes: ["mesh"] },
  {
    name: "a slice that moves to another Service",
    change: change(endpointSliceType, "s-mesh-1", {
      metadata: { labels: { "kubernetes.io/service-name": "s-tls" } },
    }),
    wakes: ["mesh", "tls"],
  },
  { name: "a slice of nobody's Service", change: put(slice("other", 1)), wakes: [] },
  { name: "D19: a Service that goes", change: remove(serviceType, "s-tls"), wakes: ["tls"] },
  { name: "D19: a Service that comes", change: put(service("s-twin-new")), wakes: [] },
  {
    name: "D19: a Service gets another address: whoever refers to it",
    change: change(serviceType, "balancer", { status: { loadBalancer: { ingress: [{ ip: "192.0.2.8" }] } } }),
    wakes: ["balancer"],
  },
  {
    name: "D19: the Service of an Istio Gateway gets another address",
    change: change(serviceType, "istio", {
      namespace: "istio-ingress",
      status: { loadBalancer: { ingress: [{ ip: "192.0.2.8" }] } },
    }),
    wakes: ["mesh"],
  },
  {
    name: "another Service gets the labels that an Istio Gateway selects",
    change: put(service("istio-2", { labels: { app: "gateway" } })),
    wakes: ["mesh"],
  },
  {
    name: "the Service of an Istio Gateway gets an annotation",
    change: change(serviceType, "istio", {
      namespace: "istio-ingress",
      metadata: { annotations: { a: "b" } },
    }),
    wakes: [],
  },
  {
    name: "D19: a referenced Ingress gets another address",
    change: change(ingressType, "named", { status: { loadBalancer: { ingress: [{ ip: "192.0.2.9" }] } } }),
    wakes: ["named"],
  },
  {
    name: "a referenced Ingress gets an annotation of somebody",
    change: change(ingressType, "named", { metadata: { annotations: { "cert.example/a": "b" } } }),
    wakes: [],
  },
  {
    name: "a referenced Ingress gets a label that nobody selects",
    change: change(ingressType, "labelled", { metadata: { labels: { team: "a", more: "x" } } }),
    wakes: [],
  },
  {
    name: "a selected Ingress loses the label",
    change: change(ingressType, "labelled", { metadata: { labels: {} } }),
    wakes: ["labelled"],
  },
  {
    name: "a second Ingress gets the label",
    change: put(ingress("second", { labels: { team: "a" } })),
    wakes: ["labelled"],
  },
  {
    name: "an Ingress with the label in another namespace",
    change: put(ingress("far", { namespace: "other", labels: { team: "a" } })),
    wakes: [],
  },
  { name: "D17: a referenced Ingress goes", change: remove(ingressType, "twin"), wakes: ["twin"] },
  { name: "an Ingress comes that was missed", change: put(ingress("missing")), wakes: ["missing"] },
  {
    name: "a hand changes the Ingress of an embedded spec",
    change: change(ingressType, "embedded", { spec: { rules: [] } }),
    wakes: ["embedded"],
  },
  {
    name: "a route gets another host",
    change: put(
      route("HTTPRoute", "http", {
        spec: { hostnames: [host("http2")], parentRefs: [{ name: "g1" }], rules: [] },
      }),
    ),
    wakes: ["http"],
  },
  {
    name: "a route's status, which its controller writes",
    change: change(inV1(httpRouteObjects), "http", { status: { parents: [{}] } }),
    wakes: [],
  },
  { name: "D17: a route goes", change: remove(inV1(httpRouteObjects), "told"), wakes: ["told"] },
  {
    name: "D19: a Gateway gets another address: whoever asked it, and not whoever has an annotation",
    change: put(gateway("g1", at("192.0.2.99"))),
    wakes: ["http"],
  },
  {
    name: "a Gateway counts one more route of a listener",
    change: put(gateway("g2", { ...at("192.0.2.3"), listeners: [{ name: "a", attachedRoutes: 7 }] })),
    wakes: [],
  },
  { name: "D17: a Gateway goes", change: remove(inV1(gatewayObjects), "g2"), wakes: ["far", "tls"] },
  {
    name: "a VirtualService changes",
    change: change(inV1(virtualServiceObjects), "mesh", {
      spec: { hosts: [host("mesh2")], gateways: ["edge"] },
    }),
    wakes: ["mesh"],
  },
  {
    name: "an Istio Gateway selects others",
    change: change(inV1(istioGatewayObjects), "edge", { spec: { selector: { app: "other" } } }),
    wakes: ["mesh"],
  },
  {
    name: "D19: the annotation with the exposed addresses changes",
    change: change(gslbType, "told", {
      metadata: { annotations: { "k8gb.io/exposed-ip-addresses": "10.8.8.8" } },
    }),
    wakes: ["told"],
  },
  {
    name: "D19: the annotation with the host changes",
    change: change(gslbType, "balancer", {
      metadata: { annotations: { "k8gb.io/hostname": host("balancer2") } },
    }),
    wakes: ["balancer"],
  },
  {
    name: "F-02: another writer changes an annotation of its own each second",
    change: change(gslbType, "told", {
      metadata: { annotations: { ...exposed, "other.example/tick": "17" } },
    }),
    wakes: [],
  },
  {
    name: "a Gslb's spec changes",
    change: change(gslbType, "named", {
      spec: { strategy: { type: "geoip" }, resourceRef: { ...toIngress, name: "named" } },
    }),
    wakes: ["named"],
  },
  {
    name: "a Gslb's labels change",
    change: change(gslbType, "named", { metadata: { labels: { a: "b" } } }),
    wakes: [],
  },
  {
    name: "a hand changes a DNSEndpoint",
    change: change(dnsEndpointType, "http", { spec: { endpoints: [] } }),
    wakes: ["http"],
  },
  { name: "a DNSEndpoint goes", change: remove(dnsEndpointType, "tls"), wakes: ["tls"] },
  {
    name: "the definition of a kind goes, and its objects with it",
    change: ({ undefine }) => undefine(tlsRouteObjects),
    wakes: ["tls", "tls"],
  },
  {
    name: "a kind is served in another version, in which its objects say the same",
    change: ({ define }) => define(tlsRouteObjects, "v1"),
    wakes: [],
  },
];

for (const { name, change: make, wakes } of changes)
  test(`one change: ${name}`, async () => {
    const world = openGslbWorld();
    fill(world);
    await world.start();
    const all = world.takeReconciled();
    // One each, although what was written comes back as events.
    assert.deepEqual([all.length, new Set(all).size], [11, 11], all.join());
    make(world);
    await world.clock.advance(5000);
    const found = world.takeReconciled().map((key) => key.replace("demo/", ""));
    assert.deepEqual(found, wakes);
    await world.close();
  });
