import type { KubeObject } from "@meridian/kube";
import type { ReferenceFailure } from "../decide/gslb-snapshot.ts";
import { kindName, type ObjectKind } from "../resources/object-kind.ts";
import type { CopyState, RecordedReads } from "./reference-source.ts";

/** What came of looking for something. */
export type Found<T> = { readonly is: "found"; readonly object: T } | NotFound;

/** Why it was not found. */
export type NotFound =
  /** The copy of its kind is not complete yet. */
  { readonly is: "pending" } | { readonly is: "missing"; readonly why: ReferenceFailure };

/**
 * Looks for an object by `namespace/name`.
 *
 * @param namedBy who names it, for the message: `spec.resourceRef`
 * @param part what is looked at of it, where that is not all
 */
export function findObject<T extends KubeObject>(
  reads: RecordedReads,
  kind: ObjectKind<T>,
  { key, namedBy, part }: { readonly key: string; readonly namedBy: string; readonly part?: "spec" },
): Found<T> {
  const object = reads.get(kind, key, part);
  if (object !== undefined) return { is: "found", object };
  const unread = unreadKind(reads, kind);
  if (unread !== undefined) return unread;
  const message = `${kind.kind} ${key}, which ${namedBy} names, does not exist; create it or correct the reference`;
  return { is: "missing", why: { reason: "NotFound", message, gone: true } };
}

/** Why nothing can be told of a kind's objects, or `undefined` where its copy is complete. */
export function unreadKind(reads: Pick<RecordedReads, "state">, kind: ObjectKind): NotFound | undefined {
  const state: CopyState = reads.state(kind);
  switch (state.is) {
    case "complete":
      return undefined;
    case "waiting":
      return { is: "pending" };
    case "absent": {
      const message = `this cluster has no ${kind.kind}: the CustomResourceDefinition ${kindName(kind)} is not installed; install it or correct the reference`;
      return { is: "missing", why: { reason: "KindNotServed", message, gone: true } };
    }
    case "unreadable": {
      const message = `objects of kind ${kind.kind} (${kind.group === "" ? kind.plural : kindName(kind)}) cannot be read: ${state.message}`;
      return { is: "missing", why: { reason: "KindUnreadable", message, gone: false } };
    }
  }
}
