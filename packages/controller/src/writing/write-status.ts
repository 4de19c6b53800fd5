import { isConflict, isNotFound } from "@meridian/kube";
import type { KubeObject, ResourceType } from "@meridian/kube";
import { absentIfNotFound } from "../client/absent-if-not-found.ts";
import { isWhole } from "../client/unknown-fields.ts";
import type { KubeClient } from "../client/kube-client.ts";
import { KeptWrites, writeKey } from "./kept-writes.ts";

/** An object with a status. */
export type WithStatus = KubeObject & { readonly status?: unknown };

/** Whose status, and what it should be. */
export interface WriteStatusOptions<T extends WithStatus> {
  /** The object as it is known; from a lister will do. */
  readonly object: T;
  /** The wanted status, made from the present one without changing it. Called again where somebody else wrote first. */
  readonly status: (object: T) => T["status"];
  readonly signal?: AbortSignal;
}

/** What was done, and the object as it is now: `undefined` where it is gone, or another one of its name by now. */
export type WriteStatusResult<T> =
  | { readonly outcome: "updated" | "unchanged"; readonly object: T }
  | { readonly outcome: "gone"; readonly object: undefined };

/** Rounds of reading and writing before a conflict is the caller's. */
const attemptsMax = 5;

/**
 * Makes the status of an object what it should be, and writes nothing where it already is. A write that conflicts starts again
 * from the newest state. Nothing but the status is written.
 */
export async function writeStatus<T extends WithStatus>(
  client: Pick<KubeClient, "get" | "updateStatus">,
  type: ResourceType,
  options: WriteStatusOptions<T>,
): Promise<WriteStatusResult<T>> {
  const { object, status, signal } = options;
  const bounds = signal === undefined ? {} : { signal };
  const { name = "", namespace, uid } = object.metadata;
  const ref = { name, ...(namespace === undefined ? {} : { namespace }) };
  const key = writeKey(type, object.metadata, "status");
  const kept = KeptWrites.of(client);
  const newest = async (): Promise<T | undefined> => {
    const read = await absentIfNotFound(client.get<T>(type, ref, bounds));
    return read?.metadata.uid === uid ? read : undefined;
  };
  // What its copy cannot see in full would lose the rest.
  let current = isWhole(object) ? object : await newest();
  for (let attempt = 1; current !== undefined; attempt++) {
    const wanted = status(current);
    if (kept.isSettled(key, { wanted, current: current.status }))
      return { outcome: "unchanged", object: current };
    try {
      const written = await client.updateStatus<T>(type, { ...current, status: wanted }, bounds);
      kept.keep(key, { wanted: status(written), stored: written.status });
      return { outcome: "updated", object: written };
    } catch (error) {
      if (isNotFound(error)) return gone;
      if (!isConflict(error) || attempt >= attemptsMax) throw error;
    }
    current = await newest();
  }
  return gone;
}

const gone = { outcome: "gone", object: undefined } as const;
