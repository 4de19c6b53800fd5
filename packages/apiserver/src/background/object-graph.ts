import type { OwnerReference } from "@meridian/kube";
import type { ApiObject } from "../resource/definition.ts";
import { foregroundFinalizer, orphanFinalizer } from "../verbs/delete.ts";

/** What the garbage collector remembers of an object. */
export interface GraphNode {
  readonly key: string;
  readonly uid: string;
  /** `group/plural` folder of its kind in the store. */
  readonly folder: string;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly owners: readonly OwnerReference[];
  /** How it is being deleted, if the garbage collector has a part in that. */
  readonly deleting: "no" | "plainly" | "foreground" | "orphaning";
}

/** Who owns whom. Owners are known by uid, so one may be named here that does not exist. */
export class ObjectGraph {
  readonly #byKey = new Map<string, GraphNode>();
  readonly #byUid = new Map<string, GraphNode>();
  readonly #dependents = new Map<string, Set<string>>();

  get(uid: string): GraphNode | undefined {
    return this.#byUid.get(uid);
  }

  at(key: string): GraphNode | undefined {
    return this.#byKey.get(key);
  }

  keys(): IterableIterator<string> {
    return this.#byKey.keys();
  }

  nodes(): IterableIterator<GraphNode> {
    return this.#byKey.values();
  }

  /** The objects that name `uid` among their owners. */
  dependentsOf(uid: string): readonly GraphNode[] {
    return [...(this.#dependents.get(uid) ?? [])].flatMap((key) => this.#byKey.get(key) ?? []);
  }

  put(node: GraphNode): void {
    this.delete(node.key);
    this.#byKey.set(node.key, node);
    this.#byUid.set(node.uid, node);
    for (const { uid } of node.owners) {
      const keys = this.#dependents.get(uid) ?? new Set<string>();
      this.#dependents.set(uid, keys.add(node.key));
    }
  }

  delete(key: string): GraphNode | undefined {
    const node = this.#byKey.get(key);
    if (node === undefined) return undefined;
    this.#byKey.delete(key);
    if (this.#byUid.get(node.uid) === node) this.#byUid.delete(node.uid);
    for (const { uid } of node.owners) {
      const keys = this.#dependents.get(uid);
      keys?.delete(key);
      if (keys?.size === 0) this.#dependents.delete(uid);
    }
    return node;
  }
}

export function nodeOf(
  object: ApiObject,
  place: { readonly key: string; readonly folder: string },
): GraphNode {
  const {
    deletionTimestamp,
    finalizers = [],
    name = "",
    namespace,
    ownerReferences = [],
    uid = "",
  } = object.metadata;
  return {
    ...place,
    uid,
    name,
    namespace,
    owners: ownerReferences,
    deleting:
      deletionTimestamp === undefined
        ? "no"
        : finalizers.includes(foregroundFinalizer)
          ? "foreground"
          : finalizers.includes(orphanFinalizer)
            ? "orphaning"
            : "plainly",
  };
}
