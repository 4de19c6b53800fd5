import assert from "node:assert/strict";
import { test } from "node:test";
import type { Ingress, Service } from "@meridian/kube";
import type { LookedUp } from "../references/exposed-addresses.ts";
import { ownDnsAddresses, type OwnAddressConfig } from "./own-dns-addresses.ts";

const dnsLabels = { "app.kubernetes.io/name": "coredns" };

function service(
  spec: Service["spec"],
  ingress: readonly { readonly ip?: string; readonly hostname?: string }[] = [],
  labels: Readonly<Record<string, string>> = dnsLabels,
): Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { namespace: "k8gb", name: "coredns", labels },
    ...(spec === undefined ? {} : { spec }),
    status: { loadBalancer: { ingress } },
  };
}

function ingress(name: string, labelled: boolean, ...ips: readonly string[]): Ingress {
  const labels = labelled ? { "k8gb.io/ip-source": "true" } : {};
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { namespace: "demo", name, labels },
    status: { loadBalancer: { ingress: ips.map((ip) => ({ ip })) } },
  };
}

const pending: LookedUp = { state: "pending" };
const known: LookedUp = { state: "known", targets: { A: ["198.51.100.1"], AAAA: [] } };

interface Case {
  readonly name: string;
  readonly config?: Partial<OwnAddressConfig>;
  readonly services?: readonly Service[];
  readonly ingresses?: readonly Ingress[];
  readonly lookedUp?: LookedUp;
  readonly expect: readonly string[] | RegExp;
}

const balanced = { type: "LoadBalancer" } as const;
const cases: readonly Case[] = [
  { name: "nothing at all", expect: /no Ingress is labelled/ },
  {
    name: "the own setting before the override",
    config: { dnsAddresses: ["10.0.0.1"], exposedAddresses: ["10.0.0.2"] },
    expect: ["10.0.0.1"],
  },
  {
    name: "the override before everything found",
    config: { exposedAddresses: ["10.0.0.2"], dnsServiceType: "LoadBalancer" },
    services: [service(balanced, [{ ip: "10.0.0.3" }])],
    expect: ["10.0.0.2"],
  },
  {
    name: "D22: the DNS Service's addresses of both families, IPv4 first",
    config: { dnsServiceType: "LoadBalancer" },
    services: [service(balanced, [{ ip: "10.0.0.3" }, { ip: "2001:DB8::1" }, { ip: "10.0.0.4" }])],
    expect: ["10.0.0.3", "10.0.0.4", "2001:db8::1"],
  },
  {
    name: "V-02: a cluster that has IPv6 only",
    config: { dnsAddresses: ["2001:db8:2::1"] },
    expect: ["2001:db8:2::1"],
  },
  {
    name: "the DNS Service's host name",
    config: { dnsServiceType: "LoadBalancer" },
    services: [service(balanced, [{ hostname: "lb.test", ip: "10.0.0.9" }])],
    lookedUp: known,
    expect: ["198.51.100.1"],
  },
  {
    name: "a host name that cannot be resolved",
    config: { dnsServiceType: "LoadBalancer" },
    services: [service(balanced, [{ hostname: "lb.test" }])],
    lookedUp: { state: "failed", verdict: "SERVFAIL" },
    expect: /lb.test cannot be resolved: SERVFAIL/,
  },
  {
    name: "a Service that is ClusterIP in fact",
    config: { dnsServiceType: "LoadBalancer" },
    services: [service({ type: "ClusterIP", clusterIPs: ["10.96.0.1"] })],
    expect: ["10.96.0.1"],
  },
  { name: "no DNS Service", config: { dnsServiceType: "LoadBalancer" }, expect: /there are 0/ },
  {
    name: "two DNS Services",
    config: { dnsServiceType: "LoadBalancer" },
    services: [service(balanced), service(balanced)],
    expect: /there are 2/,
  },
  {
    name: "the metrics Service does not count",
    config: { dnsServiceType: "LoadBalancer" },
    services: [
      service(balanced, [], { ...dnsLabels, "app.kubernetes.io/component": "metrics" }),
      service(balanced, [{ ip: "10.0.0.3" }]),
    ],
    expect: ["10.0.0.3"],
  },
  {
    name: "a Service without address yet",
    config: { dnsServiceType: "LoadBalancer" },
    services: [service(balanced)],
    expect: /no address yet/,
  },
  {
    name: "the first labelled Ingress",
    ingresses: [
      ingress("b", true, "10.0.0.5"),
      ingress("a", true, "10.0.0.6"),
      ingress("0", false, "10.0.0.7"),
    ],
    expect: ["10.0.0.6"],
  },
  {
    name: "a labelled Ingress that has a host name",
    ingresses: [
      {
        ...ingress("a", true),
        status: { loadBalancer: { ingress: [{ hostname: "lb.test" }] } },
      },
    ],
    lookedUp: known,
    expect: ["198.51.100.1"],
  },
  {
    name: "an Ingress without the label",
    ingresses: [ingress("a", false, "10.0.0.6")],
    expect: /no Ingress is labelled/,
  },
];

for (const { name, config = {}, services = [], ingresses = [], lookedUp = pending, expect } of cases) {
  test(`own DNS addresses: ${name}`, () => {
    const found = ownDnsAddresses(
      {
        dnsAddresses: [],
        exposedAddresses: [],
        dnsServiceType: "ClusterIP",
        podNamespace: "k8gb",
        ...config,
      },
      { services: () => services, ingresses: () => ingresses, lookUp: () => lookedUp },
    );
    if (expect instanceof RegExp) assert.match(found.problem ?? "", expect);
    else assert.deepEqual(found, { addresses: expect });
  });
}

test("own DNS addresses: a host name of which only IPv4 is known is reached there, and IPv6 is not known to be absent", () => {
  const found = ownDnsAddresses(
    { dnsAddresses: [], exposedAddresses: [], dnsServiceType: "LoadBalancer", podNamespace: "k8gb" },
    {
      services: () => [service(balanced, [{ ip: "10.0.0.3" }, { hostname: "lb.test" }])],
      ingresses: () => [],
      lookUp: () => ({ ...known, unknownFamily: "AAAA" }),
    },
  );
  assert.deepEqual(found, { addresses: ["10.0.0.3", "198.51.100.1"], unknownFamily: "AAAA" });
});
