import type { KubeObject } from "./metadata.ts";

/** A collection in one version of its API group, which is empty for the core group; `plural` is the path segment. */
export interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
}

/**
 * What a client needs to know to reach a kind: its path and whether it lives in namespaces. `T` is what its objects are to
 * the compiler, so that whoever reads by a `ResourceType<Service>` gets Services; those of a kind that becomes known only
 * when the program runs are just objects.
 */
export interface ResourceType<T extends KubeObject = KubeObject> extends GroupVersionResource {
  readonly kind: string;
  readonly namespaced: boolean;
  /** Never there: it carries `T`. A method, so that a type that says nothing may be used where one knows better. */
  "~objects"?(object: T): void;
}

/** `apiVersion` of a group and version: `v1`, `apps/v1`. */
export function apiVersionOf(of: { readonly group: string; readonly version: string }): string {
  return of.group === "" ? of.version : `${of.group}/${of.version}`;
}

/** Splits an `apiVersion`; `v1` is version `v1` of the core group. */
export function parseApiVersion(apiVersion: string): { readonly group: string; readonly version: string } {
  const slash = apiVersion.indexOf("/");
  return slash < 0
    ? { group: "", version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

/** `namespace/name`, or `name` where there is no namespace: the key of an object within its kind. */
export function objectKey(metadata: { readonly name?: string; readonly namespace?: string }): string {
  const name = metadata.name ?? "";
  return metadata.namespace === undefined || metadata.namespace === ""
    ? name
    : `${metadata.namespace}/${name}`;
}

/** Splits what `objectKey` joined. */
export function parseObjectKey(key: string): { readonly namespace?: string; readonly name: string } {
  const slash = key.indexOf("/");
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
