import type { ResourceType } from "@meridian/kube";

/** Gslbs. */
export const gslbType: ResourceType = {
  group: "k8gb.io",
  version: "v1beta1",
  plural: "gslbs",
  kind: "Gslb",
  namespaced: true,
};

/** The group that k8gb's objects had before; read only to be migrated from. */
export const legacyGslbType: ResourceType = { ...gslbType, group: "k8gb.absa.oss" };

/** ZoneDelegations, which have no namespace. */
export const zoneDelegationType: ResourceType = {
  group: "k8gb.io",
  version: "v1beta1",
  plural: "zonedelegations",
  kind: "ZoneDelegation",
  namespaced: false,
};

/** external-dns' DNSEndpoints. */
export const dnsEndpointType: ResourceType = {
  group: "externaldns.k8s.io",
  version: "v1alpha1",
  plural: "dnsendpoints",
  kind: "DNSEndpoint",
  namespaced: true,
};
