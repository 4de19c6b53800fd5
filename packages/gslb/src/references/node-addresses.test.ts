import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "@meridian/kube";
import { fakeSource } from "../testdata/fake-source.ts";
import { endpointSlice, node, nodePort, referTo } from "../testdata/foreign-objects.ts";
import { resolveReference } from "./resolve-reference.ts";

// Where a Service of type NodePort is reached.

interface NodeCase {
  readonly name: string;
  readonly service?: object;
  readonly objects: readonly KubeObject[];
  readonly states?: Parameters<typeof fakeSource>[1];
  readonly expect: string;
  readonly told?: RegExp;
}

const local = { externalTrafficPolicy: "Local" };
const three = [
  node("a", { InternalIP: ["10.0.0.1"] }),
  node("b", { InternalIP: ["10.0.0.2"] }),
  node("c", { InternalIP: ["10.0.0.3"] }),
];

const cases: readonly NodeCase[] = [
  { name: "every ready node", objects: three, expect: "10.0.0.1 10.0.0.2 10.0.0.3" },
  {
    name: "not one that is not ready, nor one of which nothing is known",
    objects: [
      ...three.slice(0, 1),
      node("b", { InternalIP: ["10.0.0.2"] }, { ready: "False" }),
      node("c", { InternalIP: ["10.0.0.3"] }, { ready: "Unknown" }),
    ],
    expect: "10.0.0.1",
  },
  {
    name: "not one that Kubernetes keeps from traffic from outside",
    objects: [
      ...three.slice(0, 1),
      node(
        "b",
        { InternalIP: ["10.0.0.2"] },
        { labels: { "node.kubernetes.io/exclude-from-external-load-balancers": "" } },
      ),
    ],
    expect: "10.0.0.1",
  },
  {
    name: "external addresses before internal ones, over all nodes",
    objects: [
      node("a", { InternalIP: ["10.0.0.1"], ExternalIP: ["192.0.2.1"] }),
      node("b", { InternalIP: ["10.0.0.2"] }),
    ],
    expect: "192.0.2.1",
  },
  {
    name: "both families, and no host name",
    objects: [node("a", { Hostname: ["a"], ExternalIP: ["192.0.2.1", "2001:db8::1"] })],
    expect: "192.0.2.1 2001:db8::1",
  },
  {
    name: "the family that the Service has",
    service: { ipFamilies: ["IPv4"] },
    objects: [node("a", { ExternalIP: ["192.0.2.1", "2001:db8::1"] })],
    expect: "192.0.2.1",
  },
  {
    name: "Local: nodes that have a ready endpoint, in any slice",
    service: local,
    objects: [
      ...three,
      endpointSlice("s", 1, { a: true, b: false }),
      endpointSlice("s", 2, { c: true }),
      endpointSlice("other", 1, { b: true }),
    ],
    expect: "10.0.0.1 10.0.0.3",
  },
  {
    name: "Local: no node has one",
    service: local,
    objects: [...three, endpointSlice("s", 1, { a: false })],
    expect: "",
    told: /^Service demo\/s is reached at no node: none has a ready endpoint of it/,
  },
  {
    name: "Local: a node that is gone",
    service: local,
    objects: [...three, endpointSlice("s", 1, { b: true, z: true })],
    expect: "10.0.0.2",
  },
  {
    name: "no ready node",
    objects: [],
    expect: "",
    told: /^Service demo\/s is reached at no node: none is ready and has an address of IPv4 or IPv6$/,
  },
  {
    name: "nodes that are not read yet",
    objects: [],
    states: { "nodes.": { is: "waiting" } },
    expect: "?",
  },
  {
    name: "nodes that may not be read",
    objects: [],
    states: { "nodes.": { is: "unreadable", message: "forbidden" } },
    expect: "?",
    told: /^objects of kind Node .* cannot be read: forbidden; state the addresses of Service demo\/s by the annotation/,
  },
];

for (const { name, service = {}, objects, states, expect, told } of cases)
  test(`F-04: a Service of type NodePort is reached at: ${name}`, () => {
    const target = nodePort("s", service);
    const gslb = referTo(target, { "k8gb.io/hostname": "app.x" });
    const reached = resolveReference(gslb, fakeSource([target, ...objects], states)).reachedAt();
    const addresses = reached.entries.map(({ ip }) => ip);
    assert.equal([...addresses, ...(reached.isUnknown ? ["?"] : [])].join(" "), expect);
    const text = reached.lacking ?? reached.problems.join("; ");
    if (told === undefined) assert.equal(text, "");
    else assert.match(text, told);
  });
