import type { KubeObject, ResourceType } from "@meridian/kube";
import type { KubeClient } from "./kube-client.ts";
import type { WriteOptions } from "./requests.ts";
import type { ObjectRef } from "./resource-path.ts";

/** How many of something there should be and are (autoscaling/v1): the subresource `scale` of whatever has replicas. */
export interface Scale extends KubeObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas: number; readonly selector?: string };
}

/** Reads the scale of a Deployment, a StatefulSet or a custom resource that has one. */
export function readScale(
  client: Pick<KubeClient, "get">,
  type: ResourceType,
  ref: ObjectRef,
): Promise<Scale> {
  return client.get<Scale>(type, ref, { subresource: "scale" });
}

/** Sets the number of replicas, whoever else changes the object meanwhile. */
export function scaleTo(
  client: Pick<KubeClient, "patch">,
  type: ResourceType,
  target: ObjectRef & { readonly replicas: number } & Omit<WriteOptions, "subresource">,
): Promise<Scale> {
  const { name, namespace, replicas, ...options } = target;
  const ref = { name, ...(namespace === undefined ? {} : { namespace }) };
  return client.patch<Scale>(type, ref, {
    ...options,
    type: "merge",
    subresource: "scale",
    body: { spec: { replicas } },
  });
}
