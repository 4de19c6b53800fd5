import { isConflict, isNotFound } from "@meridian/kube";
import type { KubeObject, ResourceType } from "@meridian/kube";
import { absentIfNotFound } from "../client/absent-if-not-found.ts";
import type { KubeClient } from "../client/kube-client.ts";

/** Which finalizer of which object. */
export interface FinalizerOptions<T extends KubeObject> {
  /** The object as it is known; from a lister will do. */
  readonly object: T;
  /** A qualified name, for example `example.com/records`. */
  readonly finalizer: string;
  readonly signal?: AbortSignal;
}

/** Rounds of reading and writing before a conflict is the caller's. */
const attemptsMax = 5;

/**
 * Makes sure that an object cannot go before `removeFinalizer`, and returns it; `undefined` where it is gone, or another one by
 * now. Do this, and wait for it, before anything is made outside that has to be taken back. Writes nothing where the
 * finalizer is there, or the object is being deleted, which forbids new ones.
 */
export function ensureFinalizer<T extends KubeObject>(
  client: Pick<KubeClient, "get" | "patch">,
  type: ResourceType,
  options: FinalizerOptions<T>,
): Promise<T | undefined> {
  const { finalizer } = options;
  return changeFinalizers(client, type, {
    ...options,
    change: ({ finalizers = [], deletionTimestamp }) =>
      deletionTimestamp !== undefined || finalizers.includes(finalizer)
        ? undefined
        : [...finalizers, finalizer],
  });
}

/**
 * Lets an object go as far as this finalizer is concerned, and returns it; `undefined` where it is gone, or another one by now.
 * Do this when everything made outside has been taken back. Writes nothing where the finalizer is not there.
 */
export function removeFinalizer<T extends KubeObject>(
  client: Pick<KubeClient, "get" | "patch">,
  type: ResourceType,
  options: FinalizerOptions<T>,
): Promise<T | undefined> {
  const { finalizer } = options;
  return changeFinalizers(client, type, {
    ...options,
    change: ({ finalizers = [] }) =>
      finalizers.includes(finalizer) ? finalizers.filter((each) => each !== finalizer) : undefined,
  });
}

/**
 * Patches the list of finalizers on the condition that the object is still the state that it was read from: what others add or
 * remove at the same time is neither lost nor brought back.
 */
async function changeFinalizers<T extends KubeObject>(
  client: Pick<KubeClient, "get" | "patch">,
  type: ResourceType,
  options: FinalizerOptions<T> & {
    /** The new list; `undefined`: nothing is to change. */
    readonly change: (metadata: T["metadata"]) => readonly string[] | undefined;
  },
): Promise<T | undefined> {
  const { object, change, signal } = options;
  const { name = "", namespace, uid } = object.metadata;
  const ref = { name, ...(namespace === undefined ? {} : { namespace }) };
  const bounds = signal === undefined ? {} : { signal };
  let current = object;
  for (let attempt = 1; ; attempt++) {
    const finalizers = change(current.metadata);
    if (finalizers === undefined) return current;
    const { resourceVersion } = current.metadata;
    try {
      const body = { metadata: { resourceVersion, finalizers } };
      return await client.patch<T>(type, ref, { type: "merge", body, ...bounds });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      if (!isConflict(error) || attempt >= attemptsMax) throw error;
    }
    const newest = await absentIfNotFound(client.get<T>(type, ref, bounds));
    if (newest === undefined || newest.metadata.uid !== uid) return undefined;
    current = newest;
  }
}
