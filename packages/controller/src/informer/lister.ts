import type { KubeObject } from "@meridian/kube";

/**
 * Reads from the copy; never asks the server. All objects are frozen and shared: copy before changing. They are decoded
 * when they are asked for, so ask for those you need: `list` of a large copy decodes all of it.
 *
 * @throws ControllerError `MalformedResponse` where the server had sent something that only looked like an object
 */
export interface Lister<T = KubeObject> {
  /** By `namespace/name`, or `name` where the type has no namespaces. */
  get(key: string): T | undefined;
  /** Whether there is such an object; decodes nothing. */
  has(key: string): boolean;
  /** The keys of all objects; decodes nothing. */
  keys(): IterableIterator<string>;
  /** All objects, or those of one namespace, in no stated order. */
  list(namespace?: string): readonly T[];
  /** The objects for which the index of that name yields `value`. @throws ControllerError `UnknownIndex` */
  byIndex(index: string, value: string): readonly T[];
  /** Their keys; decodes nothing. @throws ControllerError `UnknownIndex` */
  keysByIndex(index: string, value: string): ReadonlySet<string>;
  readonly size: number;
}

/** The values under which an index finds an object; any number of them. Must be pure. */
export type IndexFunction<T> = (object: T) => Iterable<string>;
