import assert from "node:assert/strict";
import { test } from "node:test";
import type { EndpointSlice } from "@meridian/kube";
import { dnsReplicas } from "./dns-replicas.ts";

const ports: NonNullable<EndpointSlice["ports"]> = [
  { name: "udp", port: 5353, protocol: "UDP" },
  { name: "tcp", port: 5353, protocol: "TCP" },
  { name: "metrics", port: 9153 },
];

function slice(addressType: "IPv4" | "IPv6" | "FQDN", ...addresses: readonly string[]): EndpointSlice {
  return {
    ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", metadata: {}, addressType, ports },
    endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
  };
}

test("the replicas are the ready endpoints at the ports for UDP, each once and in one family", () => {
  const unready: EndpointSlice = {
    ...slice("IPv4"),
    endpoints: [{ addresses: ["10.0.0.9"], conditions: { ready: false } }, { addresses: ["10.0.0.3"] }],
  };
  const slices = [
    slice("FQDN", "a.example"),
    slice("IPv4", "10.0.0.1", "10.0.0.2"),
    slice("IPv6", "2001:db8::1"),
    slice("IPv4", "10.0.0.2"),
    unready,
  ];
  assert.deepEqual(
    dnsReplicas(slices).map(({ address, port }) => `${address} ${port}`),
    ["10.0.0.1 5353", "10.0.0.2 5353", "10.0.0.3 5353"],
  );
});

test("a Service without slices, ports or endpoints has no replica", () => {
  const bare = { apiVersion: "v1", kind: "EndpointSlice", metadata: {}, addressType: "IPv4" } as const;
  assert.deepEqual(dnsReplicas([]), []);
  assert.deepEqual(dnsReplicas([bare, { ...bare, ports: null, endpoints: null }]), []);
  assert.deepEqual(dnsReplicas([{ ...slice("IPv4", "10.0.0.1"), ports: [{ port: null }] }]), []);
});
