import type { ApiObject } from "./definition.ts";

/** The object without anything but its metadata (meta.k8s.io PartialObjectMetadata). */
export function partialObject(object: ApiObject, metaVersion: "v1" | "v1beta1"): ApiObject {
  return {
    kind: "PartialObjectMetadata",
    apiVersion: `meta.k8s.io/${metaVersion}`,
    metadata: object.metadata,
  };
}
