import type { KubeObject, ResourceType } from "@meridian/kube";
import type { KubeClient } from "../client/kube-client.ts";

/** What should be there. */
export interface CreateOrUpdateOptions<T extends KubeObject> {
  /** The object to create where there is none. */
  readonly desired: T;
  /** The wanted object, made from the present one without changing it. Default: `withDesired(current, desired)`. */
  readonly mutate?: (current: T) => T;
  /** The object as a lister knows it: saves the read where nothing is to be changed. */
  readonly current?: T;
  readonly signal?: AbortSignal;
}

/** What was done. */
export interface CreateOrUpdateResult<T extends KubeObject> {
  readonly outcome: "created" | "updated" | "unchanged";
  readonly object: T;
}

/** Makes one object what it should be, and writes nothing where it is already. Conflicts are retried. */
export async function createOrUpdate<T extends KubeObject>(
  _client: KubeClient,
  _type: ResourceType,
  _options: CreateOrUpdateOptions<T>,
): Promise<CreateOrUpdateResult<T>> {
  throw new Error("unbuilt");
}
