import type { KubeObject } from "@meridian/kube";

/** Reads from the copy; never asks the server. All objects are frozen and shared: copy before changing. */
export interface Lister<T extends KubeObject = KubeObject> {
  /** By `namespace/name`, or `name` where the type has no namespaces. */
  get(key: string): T | undefined;
  /** All objects, or those of one namespace, in no stated order. */
  list(namespace?: string): readonly T[];
  /** The objects for which the index of that name yields `value`. @throws ControllerError `UnknownIndex` */
  byIndex(index: string, value: string): readonly T[];
  readonly size: number;
}

/** The values under which an index finds an object; any number of them. Must be pure. */
export type IndexFunction<T extends KubeObject> = (object: T) => Iterable<string>;
