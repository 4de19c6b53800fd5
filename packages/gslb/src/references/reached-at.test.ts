import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "@meridian/kube";
import { fakeSource } from "../testdata/fake-source.ts";
import {
  gateway,
  gatewayApi,
  ip,
  istioGateway,
  object,
  referTo,
  route,
  service,
  virtualService,
} from "../testdata/foreign-objects.ts";
import { resolveReference } from "./resolve-reference.ts";

// Where referenced objects are reached: k8gb's table "Exposed IPs", and what it gets wrong.

const hostname = { "k8gb.io/hostname": "app.x" };

interface ReachedCase {
  readonly name: string;
  readonly target: KubeObject;
  readonly objects: readonly KubeObject[];
  readonly states?: Parameters<typeof fakeSource>[1];
  /** Addresses and names, `?` where the last known ones stand in, and the start of each problem. */
  readonly expect: readonly (string | RegExp)[];
  /** Why there may be none for a moment. */
  readonly lacking?: RegExp;
}

const web = route("HTTPRoute", { hostnames: ["app.x"] });
const attached = (...parentRefs: readonly object[]): KubeObject =>
  route("HTTPRoute", { hostnames: ["app.x"], parentRefs });
const viaIstio = (...gateways: readonly string[]): KubeObject =>
  virtualService({ hosts: ["app.x"], gateways });
/** A Gateway with the address 192.0.2.`last` that says whether it is programmed. */
const saying = (name: string, last: number, status: string): KubeObject =>
  gateway(name, [], {
    status: {
      addresses: [ip(`192.0.2.${last}`)],
      conditions: [{ type: "Programmed", status, reason: "AddressNotAssigned", message: "" }],
    },
  });
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
    target: attached({ name: "a" }, { name: "b" }, { name: "c" }, { name: "d" }),
    objects: [
      saying("a", 1, "False"),
      saying("b", 2, "True"),
      saying("c", 3, "Unknown"),
      gateway("d", [ip("192.0.2.4")]),
    ],
    expect: ["192.0.2.2", "192.0.2.3", "192.0.2.4"],
    lacking: /^Gateway demo\/a is not programmed: AddressNotAssigned$/,
  },
  {
    name: "F-05: a lone Gateway that is not programmed gives none",
    target: web,
    objects: [saying("edge", 1, "False")],
    expect: [],
    lacking: /^Gateway demo\/edge is not programmed/,
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
    expect: [/Service demo\/s is of type ClusterIP; it must be LoadBalancer or NodePort, or the annotation/],
  },
];

for (const { name, target, objects, states, expect, lacking } of reached)
  test(`Exposed IPs: ${name}`, () => {
    const source = fakeSource([target, ...objects], states);
    const reachedAt = resolveReference(referTo(target, hostname), source).reachedAt();
    const { entries, isUnknown, problems } = reachedAt;
    const found = [...new Set(entries.flatMap((entry) => entry.ip ?? entry.hostname ?? []))];
    const texts = expect.filter((each) => typeof each === "string");
    assert.deepEqual([...found, ...(isUnknown ? ["?"] : [])], texts);
    if (lacking === undefined) assert.equal(reachedAt.lacking, undefined);
    else assert.match(reachedAt.lacking ?? "", lacking);
    const patterns = expect.filter((each) => each instanceof RegExp);
    assert.equal(problems.length, patterns.length, problems.join("; "));
    for (const [index, pattern] of patterns.entries()) assert.match(problems[index]!, pattern);
  });
