import type { KubeObject } from "@meridian/kube";

/** A kind by all that a reader needs to find its objects, in whichever version a cluster serves. */
export interface ObjectKind<T extends KubeObject = KubeObject> {
  /** Empty for the core group. */
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Those that can be read, all alike; the best first. */
  readonly versions: readonly string[];
  /** What is kept of an object in copies; default: all but `managedFields`. */
  trim?(object: T): T;
  /** Never there: it carries `T`, as in `ResourceType`. */
  "~objects"?(object: T): void;
}

/** `plural.group`, which names a kind in its cluster and is the name of its definition. */
export function kindName({ plural, group }: Pick<ObjectKind, "plural" | "group">): string {
  return `${plural}.${group}`;
}
