import type { ResourceType } from "@meridian/kube";

export const gslbType: ResourceType = {
  group: "k8gb.io",
  version: "v1beta1",
  plural: "gslbs",
  kind: "Gslb",
  namespaced: true,
};

/** The group that k8gb's objects had before; read only to be migrated from. */
export const legacyGslbType: ResourceType = { ...gslbType, group: "k8gb.absa.oss" };

export const zoneDelegationType: ResourceType = {
  group: "k8gb.io",
  version: "v1beta1",
  plural: "zonedelegations",
  kind: "ZoneDelegation",
  namespaced: false,
};

export const dnsEndpointType: ResourceType = {
  group: "externaldns.k8s.io",
  version: "v1alpha1",
  plural: "dnsendpoints",
  kind: "DNSEndpoint",
  namespaced: true,
};

export const ingressType: ResourceType = {
  group: "networking.k8s.io",
  version: "v1",
  plural: "ingresses",
  kind: "Ingress",
  namespaced: true,
};

export const serviceType: ResourceType = {
  group: "",
  version: "v1",
  plural: "services",
  kind: "Service",
  namespaced: true,
};

export const endpointSliceType: ResourceType = {
  group: "discovery.k8s.io",
  version: "v1",
  plural: "endpointslices",
  kind: "EndpointSlice",
  namespaced: true,
};

export const configMapType: ResourceType = {
  group: "",
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
  namespaced: true,
};

export const namespaceType: ResourceType = {
  group: "",
  version: "v1",
  plural: "namespaces",
  kind: "Namespace",
  namespaced: false,
};
