import assert from "node:assert/strict";
import { test } from "node:test";
import type { EndpointSlice, Service } from "@meridian/kube";
import { keptService, keptSlice } from "./kept-parts.ts";

test("D51: of a Service what addresses and health depend on is kept, and little else", () => {
  const service = {
    ...{ apiVersion: "v1", kind: "Service" },
    metadata: {
      ...{ name: "s", namespace: "demo", uid: "1", resourceVersion: "7", labels: { app: "a" } },
      annotations: { note: "x".repeat(1_000) },
      managedFields: [{ manager: "kubectl" }],
    },
    spec: {
      ...{ type: "LoadBalancer", clusterIP: "10.96.0.1", clusterIPs: ["10.96.0.1"], selector: { app: "a" } },
      ports: [{ port: 80 }],
    },
    status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] }, conditions: [] },
  } as unknown as Service;
  assert.deepEqual(keptService(service), {
    ...{ apiVersion: "v1", kind: "Service" },
    metadata: { name: "s", namespace: "demo", uid: "1", resourceVersion: "7", labels: { app: "a" } },
    spec: { type: "LoadBalancer", clusterIP: "10.96.0.1", clusterIPs: ["10.96.0.1"] },
    status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } },
  });
});

test("D51: of a slice its Service, and which endpoints are ready, is kept", () => {
  const endpoints = [
    {
      ...{
        addresses: ["10.0.0.1", "10.0.0.2"],
        nodeName: "n1",
        zone: "z",
        targetRef: { kind: "Pod", name: "p" },
      },
      conditions: { ready: true, serving: true, terminating: false },
    },
    { addresses: ["10.0.0.3"] },
    { addresses: [], conditions: { ready: null } },
  ];
  const slice = {
    ...{
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      addressType: "IPv4",
      ports: [{ name: "dns", port: 80, protocol: "UDP" }],
    },
    metadata: {
      ...{ name: "s-1", namespace: "demo", uid: "2", resourceVersion: "8", generation: 3 },
      labels: { "kubernetes.io/service-name": "s", "endpointslice.kubernetes.io/managed-by": "c" },
      ownerReferences: [],
    },
    endpoints,
  } as unknown as EndpointSlice;
  assert.deepEqual(keptSlice(slice), {
    ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", addressType: "IPv4" },
    metadata: {
      ...{ name: "s-1", namespace: "demo", uid: "2", resourceVersion: "8", generation: 3 },
      labels: { "kubernetes.io/service-name": "s" },
    },
    endpoints: [
      { addresses: ["10.0.0.1"], conditions: { ready: true }, nodeName: "n1" },
      { addresses: ["10.0.0.3"] },
      { addresses: [], conditions: { ready: null } },
    ],
    ports: [{ port: 80, protocol: "UDP" }],
  });
});
