import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "@meridian/kube";
import type { fakeSource } from "../testdata/fake-source.ts";
import {
  counted,
  gateway,
  gatewayApi,
  ip,
  object,
  route,
  to,
  type Backend,
} from "../testdata/foreign-objects.ts";

// Which backends of a route count: those in its namespace, and what the grants of others let through.

const edge = gateway("edge", [ip("192.0.2.1")], { spec: { listeners: [{ name: "any" }] } });
const grant = (from: object, granted: object, fields: { readonly namespace?: string } = {}): KubeObject =>
  object(`${gatewayApi}/v1beta1`, "ReferenceGrant", {
    name: "g",
    namespace: fields.namespace ?? "o",
    spec: { from: [{ group: gatewayApi, ...from }], to: [granted] },
  });
const httpFromDemo = { kind: "HTTPRoute", namespace: "demo" };
const services = { group: "", kind: "Service" };
const far: Backend = { name: "t", namespace: "o" };
const noGrants = "referencegrants.gateway.networking.k8s.io";

interface GrantCase {
  readonly name: string;
  readonly backends?: readonly Backend[];
  readonly kind?: string;
  readonly objects?: readonly KubeObject[];
  readonly states?: Parameters<typeof fakeSource>[1];
  readonly expect: string;
}

const grantCases: readonly GrantCase[] = [
  { name: "no grant", expect: "app.x=-o/t RefNotPermitted" },
  { name: "a grant for all Services", objects: [grant(httpFromDemo, services)], expect: "app.x=o/t" },
  {
    name: "a grant for this one",
    objects: [grant(httpFromDemo, { ...services, name: "t" })],
    expect: "app.x=o/t",
  },
  {
    name: "a grant for another one",
    objects: [grant(httpFromDemo, { ...services, name: "u" })],
    expect: "app.x=-o/t RefNotPermitted",
  },
  {
    name: "a grant for another kind",
    objects: [grant(httpFromDemo, { group: "", kind: "Secret" })],
    expect: "app.x=-o/t RefNotPermitted",
  },
  {
    name: "a grant to another namespace",
    objects: [grant({ ...httpFromDemo, namespace: "z" }, services)],
    expect: "app.x=-o/t RefNotPermitted",
  },
  {
    name: "a grant to another kind of route",
    objects: [grant({ ...httpFromDemo, kind: "TLSRoute" }, services)],
    expect: "app.x=-o/t RefNotPermitted",
  },
  {
    name: "a grant that stands in another namespace than the backend",
    objects: [grant(httpFromDemo, services, { namespace: "demo" })],
    expect: "app.x=-o/t RefNotPermitted",
  },
  {
    name: "an own backend needs none, named with its namespace or without",
    backends: [{ name: "s" }, { name: "u", namespace: "demo" }],
    expect: "app.x=demo/s+demo/u",
  },
  {
    name: "an own backend and one that is not granted",
    backends: [{ name: "s" }, far],
    expect: "app.x=demo/s+-o/t RefNotPermitted",
  },
  { name: "one that is sent nothing needs none", backends: [{ ...far, weight: 0 }], expect: "app.x=" },
  {
    name: "no such kind in the cluster: as with k8gb every backend counts",
    states: { [noGrants]: { is: "absent" } },
    expect: "app.x=o/t",
  },
  {
    name: "grants that nobody may read: every backend counts, and it is told",
    states: { [noGrants]: { is: "unreadable", message: "forbidden" } },
    expect: "app.x=o/t KindUnreadable",
  },
  { name: "grants that are not read yet", states: { [noGrants]: { is: "waiting" } }, expect: "pending" },
  { name: "a TCPRoute without grant", kind: "TCPRoute", expect: "app.x=-o/t RefNotPermitted" },
  {
    name: "a TCPRoute with one",
    kind: "TCPRoute",
    objects: [grant({ ...httpFromDemo, kind: "TCPRoute" }, services)],
    expect: "app.x=o/t",
  },
];

for (const { name, backends = [far], kind = "HTTPRoute", objects = [], states, expect } of grantCases)
  test(`F-05: a backend in another namespace: ${name}`, () => {
    const target = route(kind, { hostnames: ["app.x"], ...to(...backends) });
    assert.equal(counted(target, [edge, ...objects], states), expect);
  });
