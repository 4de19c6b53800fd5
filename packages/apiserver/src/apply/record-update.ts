import type { ApiObject, ServedResource } from "../resource/definition.ts";

/** Who changed what, for the managed fields of an object. */
export interface UpdateRecord {
  readonly old: ApiObject | undefined;
  readonly manager: string;
  /** RFC 3339, whole seconds. */
  readonly time: string;
  readonly subresource?: string;
}

export function recordUpdate(_resource: ServedResource, object: ApiObject, _record: UpdateRecord): ApiObject {
  return object;
}
