import { deepEqual } from "@meridian/kube";
import type { KubeObject } from "@meridian/kube";

/** Which changes of objects are of interest. What is left out is: an absent method lets everything through. */
export interface Predicate<T = KubeObject> {
  /** `initial`: the object was there before. */
  onAdd?(object: T, about: { readonly initial: boolean }): boolean;
  /** `resync`: nothing has changed. */
  onUpdate?(old: T, object: T, about: { readonly resync: boolean }): boolean;
  /** `missed`: the deletion itself was not seen. */
  onDelete?(object: T, about: { readonly missed: boolean }): boolean;
}

/**
 * Updates that changed what is wanted of an object, and not only its status or metadata: those of `metadata.generation`.
 * Objects of a type that keeps no generation, as ConfigMaps, are let through always.
 */
export function generationChanged<T extends KubeObject>(): Predicate<T> {
  return {
    onUpdate: ({ metadata: old }, { metadata }) =>
      metadata.generation === undefined || metadata.generation !== old.generation,
  };
}

/** Updates that changed labels. */
export function labelsChanged<T extends KubeObject>(): Predicate<T> {
  return { onUpdate: (old, object) => !deepEqual(old.metadata.labels, object.metadata.labels) };
}

/** Updates that changed annotations. */
export function annotationsChanged<T extends KubeObject>(): Predicate<T> {
  return { onUpdate: (old, object) => !deepEqual(old.metadata.annotations, object.metadata.annotations) };
}

/** Updates that changed anything: all but resyncs. */
export function resourceVersionChanged<T extends KubeObject>(): Predicate<T> {
  return { onUpdate: (old, object) => old.metadata.resourceVersion !== object.metadata.resourceVersion };
}

/** What all of them let through. */
export function and<T>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return {
    onAdd: (object, about) => predicates.every((each) => each.onAdd?.(object, about) ?? true),
    onUpdate: (old, object, about) => predicates.every((each) => each.onUpdate?.(old, object, about) ?? true),
    onDelete: (object, about) => predicates.every((each) => each.onDelete?.(object, about) ?? true),
  };
}

/** What any of them lets through. */
export function or<T>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return {
    onAdd: (object, about) => predicates.some((each) => each.onAdd?.(object, about) ?? true),
    onUpdate: (old, object, about) => predicates.some((each) => each.onUpdate?.(old, object, about) ?? true),
    onDelete: (object, about) => predicates.some((each) => each.onDelete?.(object, about) ?? true),
  };
}

/** What it does not let through; so `not(generationChanged())` lets no object through that comes or goes. */
export function not<T>(predicate: Predicate<T>): Predicate<T> {
  return {
    onAdd: (object, about) => !(predicate.onAdd?.(object, about) ?? true),
    onUpdate: (old, object, about) => !(predicate.onUpdate?.(old, object, about) ?? true),
    onDelete: (object, about) => !(predicate.onDelete?.(object, about) ?? true),
  };
}
