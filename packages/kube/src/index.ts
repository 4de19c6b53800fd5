export type { Json, JsonObject } from "./json.ts";
export type { KubeList, KubeObject, ListMeta, ObjectMeta, OwnerReference } from "./metadata.ts";
export { apiVersionOf, objectKey, parseApiVersion, parseObjectKey } from "./group-version.ts";
export type { GroupVersionKind, GroupVersionResource, ResourceType } from "./group-version.ts";
export { StatusError } from "./status.ts";
export type { Status, StatusCause, StatusDetails, StatusReason } from "./status.ts";
