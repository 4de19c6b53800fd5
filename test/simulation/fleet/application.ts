import type {
  EndpointSlice,
  Ingress,
  KubeObject,
  LoadBalancerIngress,
  ResourceType,
  Service,
} from "@meridian/kube";
import { zoneName, type Tag } from "./fleet-map.ts";

/** An application that every cluster may run, with its host and a Gslb. Object names are the application's. */
export interface Application {
  readonly name: string;
  /** As the Ingress has it; may be a wildcard. */
  readonly host: string;
  /** The name under which the host is asked for. */
  readonly question: string;
  /** The balanced zone that the host is in. */
  readonly zone: string;
  /** All addresses that a cluster may serve it at; which of them it has is for its load balancer to say. */
  readonly targets: Readonly<Record<Tag, readonly string[]>>;
}

/** The strategy part of a Gslb's spec. */
export interface GslbStrategySpec {
  readonly type: string;
  readonly weight?: Readonly<Record<string, number>>;
  readonly primaryGeoTag?: string;
  readonly dnsTtlSeconds?: number;
  readonly splitBrainThresholdSeconds?: number;
}

/** A Gslb as the fleet's users write it. */
export interface GslbObject extends KubeObject {
  readonly spec?: { readonly strategy?: GslbStrategySpec; readonly resourceRef?: object };
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
    }[];
  };
}

export const namespaceName = "demo";

const type = (group: string, plural: string, kind: string): ResourceType => ({
  group,
  version: group === "k8gb.io" ? "v1beta1" : group === "externaldns.k8s.io" ? "v1alpha1" : "v1",
  plural,
  kind,
  namespaced: kind !== "Namespace" && kind !== "ZoneDelegation",
});

export const types: Readonly<
  Record<
    "namespace" | "service" | "configMap" | "secret" | "zone" | "slice" | "ingress" | "gslb" | "endpoint",
    ResourceType
  >
> = {
  namespace: type("", "namespaces", "Namespace"),
  service: type("", "services", "Service"),
  configMap: type("", "configmaps", "ConfigMap"),
  secret: type("", "secrets", "Secret"),
  slice: type("discovery.k8s.io", "endpointslices", "EndpointSlice"),
  ingress: type("networking.k8s.io", "ingresses", "Ingress"),
  gslb: type("k8gb.io", "gslbs", "Gslb"),
  zone: type("k8gb.io", "zonedelegations", "ZoneDelegation"),
  endpoint: type("externaldns.k8s.io", "dnsendpoints", "DNSEndpoint"),
};

/** The key of an object of the namespace in the store. */
export function storeKey(of: ResourceType, name: string): string {
  return `${collectionKey(of)}${namespaceName}/${name}`;
}

/** The key prefix of a type in the store. */
export function collectionKey(of: ResourceType): string {
  return `/registry/${of.group === "" ? "core" : of.group}/${of.plural}/`;
}

export function service(name: string): Service {
  return { ...head("v1", "Service", name), spec: { ports: [{ name: "http", port: 80 }] } };
}

export function slice(name: string, ready: boolean): EndpointSlice {
  const { metadata, ...rest } = head("discovery.k8s.io/v1", "EndpointSlice", name);
  return {
    ...rest,
    metadata: { ...metadata, labels: { "kubernetes.io/service-name": name } },
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.244.0.1"], conditions: { ready } }],
    ports: [{ name: "http", port: 8080 }],
  };
}

export function ingress(name: string, host: string): Ingress {
  const backend = { service: { name, port: { name: "http" } } };
  return {
    ...head("networking.k8s.io/v1", "Ingress", name),
    spec: { rules: [{ host, http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }] },
  };
}

export function loadBalancerStatus(targets: readonly string[]): {
  readonly loadBalancer: { readonly ingress: readonly LoadBalancerIngress[] };
} {
  return { loadBalancer: { ingress: targets.map((ip) => ({ ip })) } };
}

export function gslb(name: string, strategy: GslbStrategySpec): GslbObject {
  return {
    ...head("k8gb.io/v1beta1", "Gslb", name),
    spec: { resourceRef: { apiVersion: "networking.k8s.io/v1", kind: "Ingress", name }, strategy },
  };
}

/** A DNSEndpoint with which a tenant reaches for names that are not its own. */
export function thievingEndpoint(
  name: string,
  hosts: readonly string[],
): KubeObject & { readonly spec: object } {
  const { metadata, ...rest } = head("externaldns.k8s.io/v1alpha1", "DNSEndpoint", name);
  const names = hosts.flatMap((host) => [host, `localtargets-${host}`]);
  return {
    ...rest,
    metadata: { ...metadata, labels: { "k8gb.io/dnstype": "local" } },
    spec: {
      endpoints: [
        ...names.map((dnsName) => ({ dnsName, recordType: "A", recordTTL: 5, targets: ["203.0.113.66"] })),
        { dnsName: zoneName, recordType: "NS", recordTTL: 5, targets: ["ns.thief.example"] },
      ],
    },
  };
}

function head(apiVersion: string, kind: string, name: string): KubeObject {
  return { apiVersion, kind, metadata: { namespace: namespaceName, name } };
}
