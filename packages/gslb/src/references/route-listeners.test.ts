import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "@meridian/kube";
import { fakeSource } from "../testdata/fake-source.ts";
import { gateway, gatewayApi, ip, object, counted, referTo, route, to } from "../testdata/foreign-objects.ts";
import { resolveReference } from "./resolve-reference.ts";

// Which hosts of a route count: what its listeners and its parents let through.

const web = { name: "web", port: 80, protocol: "HTTP", hostname: "web.x" };
const wild = { name: "wild", port: 443, protocol: "HTTPS", hostname: "*.apps.x" };
const any = { name: "any", port: 8080, protocol: "HTTP" };
const tls = { name: "tls", port: 8443, protocol: "TLS", hostname: "*.tls.x" };
const listening = (...listeners: readonly object[]): KubeObject =>
  gateway("edge", [ip("192.0.2.1")], { spec: { listeners } });
const listenerSet = (...listeners: readonly object[]): KubeObject =>
  object(`${gatewayApi}/v1`, "ListenerSet", {
    name: "set",
    spec: { parentRef: { name: "edge" }, listeners },
  });

interface HostCase {
  readonly name: string;
  readonly kind?: string;
  readonly hostnames?: readonly string[];
  readonly parentRefs?: readonly object[];
  readonly objects: readonly KubeObject[];
  readonly states?: Parameters<typeof fakeSource>[1];
  /** Each host with its Service, or without one where nothing takes requests for it; then reasons. */
  readonly expect: string;
}

const hostCases: readonly HostCase[] = [
  {
    name: "a listener for every name takes all",
    hostnames: ["a.x"],
    objects: [listening(any)],
    expect: "a.x=demo/s",
  },
  {
    name: "a wildcard listener takes names below it",
    hostnames: ["a.apps.x", "b.a.apps.x"],
    objects: [listening(wild)],
    expect: "a.apps.x=demo/s b.a.apps.x=demo/s",
  },
  {
    name: "a host that no listener takes has no Service and is told, and the others go on",
    hostnames: ["a.apps.x", "apps.x"],
    objects: [listening(web, wild)],
    expect: "a.apps.x=demo/s apps.x= NoMatchingListenerHostname",
  },
  {
    name: "of a wildcard route and a listener the narrower name counts",
    hostnames: ["*.x"],
    objects: [listening(web, wild)],
    expect: "web.x=demo/s *.apps.x=demo/s",
  },
  {
    name: "case and a trailing dot do not matter",
    hostnames: ["WEB.X."],
    objects: [listening(web)],
    expect: "WEB.X=demo/s",
  },
  {
    name: "one host of two listeners is one",
    hostnames: ["web.x"],
    objects: [listening(web, { ...web, name: "web-tls", port: 443, protocol: "HTTPS" }, any)],
    expect: "web.x=demo/s",
  },
  {
    name: "a sectionName leaves one listener",
    hostnames: ["web.x"],
    parentRefs: [{ name: "edge", sectionName: "wild" }],
    objects: [listening(web, wild)],
    expect: "web.x= NoMatchingListenerHostname",
  },
  {
    name: "a sectionName that is none of the listeners'",
    hostnames: ["web.x"],
    parentRefs: [{ name: "edge", sectionName: "wbe" }],
    objects: [listening(web)],
    expect: "web.x= NoMatchingListenerHostname",
  },
  {
    name: "a port leaves those of the port",
    hostnames: ["web.x", "a.apps.x"],
    parentRefs: [{ name: "edge", port: 443 }],
    objects: [listening(web, wild)],
    expect: "a.apps.x=demo/s web.x= NoMatchingListenerHostname",
  },
  {
    name: "two parents take what either takes",
    hostnames: ["web.x", "a.apps.x"],
    parentRefs: [
      { name: "edge", sectionName: "web" },
      { name: "edge", sectionName: "wild" },
    ],
    objects: [listening(web, wild)],
    expect: "web.x=demo/s a.apps.x=demo/s",
  },
  {
    name: "hostname only on the listener",
    objects: [listening(web, any, wild)],
    expect: "web.x=demo/s *.apps.x=demo/s",
  },
  { name: "neither names a host", objects: [listening(any)], expect: "" },
  {
    name: "an HTTPRoute has no names of a TLS listener",
    objects: [listening(web, tls)],
    expect: "web.x=demo/s",
  },
  {
    name: "a TLSRoute has names of TLS listeners only",
    kind: "TLSRoute",
    objects: [listening(web, tls)],
    expect: "*.tls.x=demo/s",
  },
  {
    name: "a protocol that only its controller knows may be for any route",
    objects: [listening({ name: "own", protocol: "example.com/own", hostname: "a.x" })],
    expect: "a.x=demo/s",
  },
  {
    name: "the listeners of a ListenerSet, not of its Gateway",
    hostnames: ["a.set.x", "web.x"],
    parentRefs: [{ kind: "ListenerSet", name: "set" }],
    objects: [listenerSet({ ...wild, hostname: "*.set.x" }), listening(web)],
    expect: "a.set.x=demo/s web.x= NoMatchingListenerHostname",
  },
  {
    name: "a Gateway that is gone takes no own host away",
    hostnames: ["a.x"],
    objects: [],
    expect: "a.x=demo/s",
  },
  {
    name: "nor does one that nobody may read",
    hostnames: ["a.x"],
    objects: [],
    states: { "gateways.gateway.networking.k8s.io": { is: "unreadable", message: "forbidden" } },
    expect: "a.x=demo/s",
  },
  {
    name: "without own hosts and its Gateway the last known stand, without own targets",
    objects: [],
    expect: "NotFound gone",
  },
  {
    name: "without own hosts and a Gateway that nobody may read the last known stand",
    objects: [],
    states: { "gateways.gateway.networking.k8s.io": { is: "unreadable", message: "forbidden" } },
    expect: "KindUnreadable",
  },
  {
    name: "nothing is decided before Gateways are read",
    hostnames: ["a.x"],
    objects: [],
    states: { "gateways.gateway.networking.k8s.io": { is: "waiting" } },
    expect: "pending",
  },
  {
    name: "a route of a mesh only has its own hosts",
    hostnames: ["a.x"],
    parentRefs: [{ group: "", kind: "Service", name: "mesh" }],
    objects: [],
    expect: "a.x=demo/s",
  },
];

for (const { name, kind = "HTTPRoute", hostnames, parentRefs, objects, states, expect } of hostCases)
  test(`F-05: ${name}`, () => {
    const spec = { ...to({ name: "s" }), ...(hostnames && { hostnames }), ...(parentRefs && { parentRefs }) };
    assert.equal(counted(route(kind, spec), objects, states), expect);
  });

test("F-05: what no listener takes is told with the route, the parent and the host", () => {
  const target = route("HTTPRoute", { hostnames: ["b.x"], ...to({ name: "s" }) });
  const { outcome } = resolveReference(referTo(target), fakeSource([target, listening(web)]));
  assert.match(
    outcome.kind === "resolved" ? outcome.problems![0]!.message : "",
    /^no listener of Gateway demo\/edge that demo\/app attaches to takes b\.x; correct/,
  );
});

const says = (parentRef: object, status: string, reason = "NotAllowedByListeners"): object => ({
  parentRef,
  conditions: [{ type: "Accepted", status, reason, message: "" }],
});
const twoParents = [{ name: "edge" }, { name: "other" }];
const other = gateway("other", [ip("192.0.2.2")], { spec: { listeners: [{ ...any, hostname: "b.x" }] } });

interface AcceptedCase {
  readonly name: string;
  readonly parents?: readonly object[];
  readonly parentRefs?: readonly object[];
  readonly expect: string;
  readonly reached?: string;
}

const acceptedCases: readonly AcceptedCase[] = [
  { name: "nobody says anything", expect: "a.x=demo/s b.x=demo/s", reached: "192.0.2.1 192.0.2.2" },
  {
    name: "all accept it",
    parents: [says({ name: "edge" }, "True"), says({ name: "other" }, "True")],
    expect: "a.x=demo/s b.x=demo/s",
    reached: "192.0.2.1 192.0.2.2",
  },
  {
    name: "one does not: neither its listeners nor its addresses count",
    parents: [says({ name: "edge" }, "False"), says({ name: "other" }, "True")],
    expect: "b.x=demo/s a.x= NoMatchingListenerHostname",
    reached: "192.0.2.2",
  },
  {
    name: "none does: no host has a Service, and it is told once",
    parents: [says({ name: "edge" }, "False"), says({ name: "other" }, "False")],
    expect: "a.x= b.x= RouteNotAccepted",
  },
  {
    name: "a parent is meant by all that the reference says",
    parentRefs: [{ name: "edge", sectionName: "any" }],
    parents: [says({ name: "edge" }, "False"), says({ name: "edge", sectionName: "any" }, "True")],
    expect: "a.x=demo/s b.x=demo/s",
  },
  {
    name: "with what is left out filled in",
    parentRefs: [{ name: "edge" }],
    parents: [says({ group: gatewayApi, kind: "Gateway", namespace: "demo", name: "edge" }, "False")],
    expect: "a.x= b.x= RouteNotAccepted",
  },
  {
    name: "of two controllers one does",
    parentRefs: [{ name: "edge" }],
    parents: [says({ name: "edge" }, "False"), says({ name: "edge" }, "True")],
    expect: "a.x=demo/s b.x=demo/s",
  },
  {
    name: "one cannot tell yet",
    parentRefs: [{ name: "edge" }],
    parents: [says({ name: "edge" }, "Unknown")],
    expect: "a.x=demo/s b.x=demo/s",
  },
];

for (const { name, parents, parentRefs = twoParents, expect, reached } of acceptedCases)
  test(`F-05: a route and who accepts it: ${name}`, () => {
    const spec = { hostnames: ["a.x", "b.x"], parentRefs, ...to({ name: "s" }) };
    const target = { ...route("HTTPRoute", spec), ...(parents && { status: { parents } }) };
    assert.equal(counted(target, [listening(any), other]), expect);
    if (reached === undefined) return;
    const { entries } = resolveReference(
      referTo(target),
      fakeSource([target, listening(any), other]),
    ).reachedAt();
    assert.equal(entries.map((entry) => entry.ip).join(" "), reached);
  });

test("F-05: a TCPRoute that its only Gateway does not accept serves nothing", () => {
  const target = {
    ...route("TCPRoute", to({ name: "s" })),
    status: { parents: [says({ name: "edge" }, "False")] },
  };
  assert.equal(counted(target, [listening(any)]), "app.x= RouteNotAccepted");
});
