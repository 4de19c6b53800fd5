import { controllerOf, deepEqual, isAlreadyExists, isConflict, isNotFound } from "@meridian/kube";
import type { KubeObject, ObjectMeta, ResourceType } from "@meridian/kube";
import { absentIfNotFound } from "../client/absent-if-not-found.ts";
import { isWhole } from "../client/unknown-fields.ts";
import type { KubeClient } from "../client/kube-client.ts";
import { throwIfControlledByAnother, withOwners } from "./controller-reference.ts";
import { KeptWrites, contentOf, writeKey } from "./kept-writes.ts";

/** What should be there. */
export interface CreateOrUpdateOptions<T extends KubeObject> {
  /** The object to create where there is none. Its name and namespace say which object is meant. */
  readonly desired: T;
  /** The wanted object, made from the present one without changing it. Default: `withDesired(current, desired)`. */
  readonly mutate?: (current: T) => T;
  /**
   * The object as a lister knows it: where that is as wanted, nothing is sent at all, and where a lister knows of none
   * (`undefined`, said so), it is created without a look. Left out: it is read first.
   */
  readonly current?: T | undefined;
  readonly signal?: AbortSignal;
}

/** What was done, and the object as it is now. */
export interface CreateOrUpdateResult<T extends KubeObject> {
  readonly outcome: "created" | "updated" | "unchanged";
  readonly object: T;
}

/** Rounds of reading and writing before a conflict is the caller's. */
const attemptsMax = 5;

/**
 * Makes one object what it should be, and writes nothing where it already is, also where the server has added defaults to what
 * was written or changed it: that is remembered for as long as the client lives. (A new process writes such an object
 * once, which changes nothing.) A write that conflicts, or meets an object that came or went meanwhile, starts again from
 * the newest state. The status is not written: see `writeStatus`.
 *
 * Where `desired` names its controller, an object that has another one is not written, also if `mutate` would leave that
 * one in place. What nobody controls is taken.
 *
 * @throws ControllerError `AlreadyOwned`; ApiError what the server refuses
 */
export async function createOrUpdate<T extends KubeObject>(
  client: Pick<KubeClient, "get" | "create" | "update">,
  type: ResourceType<T>,
  options: CreateOrUpdateOptions<NoInfer<T>>,
): Promise<CreateOrUpdateResult<T>> {
  const { desired } = options;
  const mutate = options.mutate ?? ((current: T): T => withDesired(current, desired));
  const bounds = options.signal === undefined ? {} : { signal: options.signal };
  const { name = "", namespace } = desired.metadata;
  const ref = { name, ...(namespace === undefined ? {} : { namespace }) };

  const controller = controllerOf(desired);
  const key = writeKey(type, desired.metadata, "content");
  const kept = KeptWrites.of(client);
  const write = async (wanted: T | undefined): Promise<CreateOrUpdateResult<T>> => {
    const object =
      wanted === undefined
        ? await client.create<T>(type, desired, bounds)
        : await client.update<T>(type, wanted, bounds);
    kept.keep(key, { wanted: contentOf(mutate(object)), stored: contentOf(object) });
    return { outcome: wanted === undefined ? "created" : "updated", object };
  };

  // Of what its copy cannot see in full nothing could be left as it is.
  let known = isWhole(options.current) ? options.current : undefined;
  let isMissed = "current" in options && options.current === undefined;
  for (let attempt = 1; ; attempt++) {
    const current =
      isMissed || known !== undefined ? known : await absentIfNotFound(client.get<T>(type, ref, bounds));
    known = undefined;
    isMissed = false;
    const wanted = current === undefined ? undefined : mutate(current);
    if (current !== undefined && wanted !== undefined) {
      if (controller !== undefined) throwIfControlledByAnother(wanted, controller);
      const isSettled = kept.isSettled(key, { wanted: contentOf(wanted), current: contentOf(current) });
      if (isSettled && deepEqual(statusOf(wanted), statusOf(current)))
        return { outcome: "unchanged", object: current };
    }
    try {
      return await write(wanted);
    } catch (error) {
      const overtaken =
        wanted === undefined ? isAlreadyExists(error) : isConflict(error) || isNotFound(error);
      if (!overtaken || attempt >= attemptsMax) throw error;
    }
  }
}

/**
 * The present object with all that `desired` says: its labels, annotations and owner references are added to those
 * present, and each other top-level field that it has replaces the present one. Status and the rest of the metadata stay.
 */
export function withDesired<T extends KubeObject>(current: T, desired: T): T {
  const {
    metadata,
    apiVersion: _apiVersion,
    kind: _kind,
    status: _status,
    ...fields
  } = desired as T & {
    readonly status?: unknown;
  };
  return { ...current, ...fields, metadata: withDesiredMetadata(current.metadata, metadata) };
}

function withDesiredMetadata(current: ObjectMeta, desired: ObjectMeta): ObjectMeta {
  const owners = desired.ownerReferences;
  return {
    ...current,
    ...(desired.labels === undefined ? {} : { labels: { ...current.labels, ...desired.labels } }),
    ...(desired.annotations === undefined
      ? {}
      : { annotations: { ...current.annotations, ...desired.annotations } }),
    ...(desired.finalizers === undefined
      ? {}
      : { finalizers: [...new Set([...(current.finalizers ?? []), ...desired.finalizers])] }),
    ...(owners === undefined ? {} : { ownerReferences: withOwners(current.ownerReferences, owners) }),
  };
}

/** Types without a status subresource have it written with the rest, where `mutate` changes it. */
function statusOf(object: KubeObject & { readonly status?: unknown }): unknown {
  return object.status;
}
