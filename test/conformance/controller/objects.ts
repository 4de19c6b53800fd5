import type { ConfigMap, KubeObject, Lease, Pod, ResourceType } from "@meridian/kube";

/** Deployments (apps/v1). */
export const deploymentType: ResourceType = {
  group: "apps",
  version: "v1",
  plural: "deployments",
  kind: "Deployment",
  namespaced: true,
};

/** A ConfigMap that is not stored yet. */
export function configMap(
  at: {
    readonly namespace: string;
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
  },
  data: Readonly<Record<string, string>> = {},
): ConfigMap {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: at, data };
}

/** The parts of a container that the cases look at. */
interface Container {
  readonly name: string;
  readonly image?: string;
  readonly env?: readonly { readonly name: string; readonly value: string }[];
}

/** A Pod with the parts of its containers that the cases look at. */
export interface PodObject extends Pod {
  readonly spec: { readonly nodeName?: string; readonly containers: readonly Container[] };
}

/** The parts of a Deployment that the cases look at. */
export interface DeploymentObject extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly selector: object;
    readonly template: {
      readonly metadata: object;
      readonly spec: { readonly containers: readonly Container[] };
    };
  };
}

/** `scale` of an object. */
export interface ScaleObject extends KubeObject {
  readonly spec: { readonly replicas: number };
}

/** A Pod that is not stored yet; its containers are named by the keys of `images`. */
export function pod(
  at: { readonly namespace: string; readonly name: string },
  images: Readonly<Record<string, string>>,
): PodObject {
  const containers = Object.entries(images).map(([name, image]) => ({ name, image }));
  return { apiVersion: "v1", kind: "Pod", metadata: at, spec: { containers } };
}

/** A Deployment of one container, or what one of its writers says of it. */
export function deployment(
  at: { readonly namespace: string; readonly name: string },
  container: object,
): KubeObject {
  const labels = { app: at.name };
  const spec = {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [container] } },
  };
  const body = { apiVersion: "apps/v1", kind: "Deployment", metadata: at, spec };
  return body;
}

/** A Lease that is not stored yet. */
export function lease(
  at: { readonly namespace: string; readonly name: string },
  spec: NonNullable<Lease["spec"]>,
): Lease {
  return { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: at, spec };
}
