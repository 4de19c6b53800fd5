import type { ResourceType } from "../group-version.ts";
import type { ConfigMap, Event, Namespace, Pod, Secret } from "./core.ts";
import type { CustomResourceDefinition } from "./custom-resource-definition.ts";
import type { SeriesEvent } from "./event.ts";
import type { Lease } from "./lease.ts";
import type { EndpointSlice, Ingress, Service } from "./network.ts";

const core = { group: "", version: "v1" } as const;

/** ConfigMaps (v1). */
export const configMapType: ResourceType<ConfigMap> = {
  ...core,
  plural: "configmaps",
  kind: "ConfigMap",
  namespaced: true,
};
/** Events (v1). */
export const eventType: ResourceType<Event> = { ...core, plural: "events", kind: "Event", namespaced: true };
/** Namespaces (v1). */
export const namespaceType: ResourceType<Namespace> = {
  ...core,
  plural: "namespaces",
  kind: "Namespace",
  namespaced: false,
};
/** Pods (v1). */
export const podType: ResourceType<Pod> = { ...core, plural: "pods", kind: "Pod", namespaced: true };
/** Secrets (v1). */
export const secretType: ResourceType<Secret> = {
  ...core,
  plural: "secrets",
  kind: "Secret",
  namespaced: true,
};
/** Services (v1). */
export const serviceType: ResourceType<Service> = {
  ...core,
  plural: "services",
  kind: "Service",
  namespaced: true,
};
/** EndpointSlices (discovery.k8s.io/v1). */
export const endpointSliceType: ResourceType<EndpointSlice> = {
  group: "discovery.k8s.io",
  version: "v1",
  plural: "endpointslices",
  kind: "EndpointSlice",
  namespaced: true,
};
/** Ingresses (networking.k8s.io/v1). */
export const ingressType: ResourceType<Ingress> = {
  group: "networking.k8s.io",
  version: "v1",
  plural: "ingresses",
  kind: "Ingress",
  namespaced: true,
};
/** CustomResourceDefinitions (apiextensions.k8s.io/v1). */
export const customResourceDefinitionType: ResourceType<CustomResourceDefinition> = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};
/** Leases (coordination.k8s.io/v1). */
export const leaseType: ResourceType<Lease> = {
  group: "coordination.k8s.io",
  version: "v1",
  plural: "leases",
  kind: "Lease",
  namespaced: true,
};
/** Events (events.k8s.io/v1). */
export const seriesEventType: ResourceType<SeriesEvent> = {
  group: "events.k8s.io",
  version: "v1",
  plural: "events",
  kind: "Event",
  namespaced: true,
};
