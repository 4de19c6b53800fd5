import {
  matchesLabels,
  objectKey,
  type EndpointSlice,
  type KubeObject,
  type LabelSelector,
} from "@meridian/kube";
import { kindName, type ObjectKind } from "../resources/object-kind.ts";

/** How the copy of a kind stands. Only a `complete` one shows what there is. */
export type CopyState =
  /** Not known yet. */
  | { readonly is: "waiting" }
  /** The cluster has no such kind, so there are no such objects. */
  | { readonly is: "absent" }
  /** Nobody can tell what there is now. */
  | { readonly is: "unreadable"; readonly message: string }
  | { readonly is: "complete" };

/** Reads objects that references lead to or through; from copies, never from the server. */
export interface ReferenceSource {
  state(kind: ObjectKind): CopyState;
  /** By `namespace/name`, or by name where the kind is in no namespace. */
  get<T extends KubeObject>(kind: ObjectKind<T>, key: string): T | undefined;
  /** The EndpointSlices of a Service, by its `namespace/name`. */
  slicesOf(serviceKey: string): readonly EndpointSlice[];
  /** All objects, or those of one namespace. */
  list<T extends KubeObject>(kind: ObjectKind<T>, namespace?: string): readonly T[];
}

/** The name of a read of an object: `routes.example demo/app`. */
export function readObject(kind: ObjectKind, key: string): string {
  return `${kindName(kind)} ${key}`;
}

/** The name of a read of an object's spec only. */
export function readSpec(kind: ObjectKind, key: string): string {
  return `${readObject(kind, key)} spec`;
}

/** The name of a read of the EndpointSlices of a Service. */
export function readSlices(serviceKey: string): string {
  return `slices ${serviceKey}`;
}

/** What was looked for among the labels of a kind, in one namespace or in all. */
export interface Selection {
  readonly kind: ObjectKind;
  readonly selector: LabelSelector;
  readonly namespace?: string;
}

/**
 * Reads from a source and remembers what was looked for, found or not: exactly those objects can change what came of it.
 */
export class RecordedReads {
  readonly #source: ReferenceSource;
  readonly #objects = new Set<string>();
  readonly #selections: Selection[] = [];
  readonly #kinds = new Map<string, ObjectKind>();

  constructor(source: ReferenceSource) {
    this.#source = source;
  }

  /** What was read, as `readObject`, `readSpec` and `readSlices` call it. */
  get objects(): ReadonlySet<string> {
    return this.#objects;
  }

  get selections(): readonly Selection[] {
    return this.#selections;
  }

  /** Every kind that was read at all. */
  get kinds(): Iterable<string> {
    return this.#kinds.keys();
  }

  /** How much was looked for; it only grows. */
  get size(): number {
    return this.#objects.size + this.#selections.length + this.#kinds.size;
  }

  state(kind: ObjectKind): CopyState {
    this.#kinds.set(kindName(kind), kind);
    return this.#source.state(kind);
  }

  /** @param part `spec` where nothing else of the object is looked at */
  get<T extends KubeObject>(kind: ObjectKind<T>, key: string, part?: "spec"): T | undefined {
    this.#kinds.set(kindName(kind), kind);
    this.#objects.add(part === "spec" ? readSpec(kind, key) : readObject(kind, key));
    return this.#source.get(kind, key);
  }

  slicesOf(serviceKey: string): readonly EndpointSlice[] {
    this.#objects.add(readSlices(serviceKey));
    return this.#source.slicesOf(serviceKey);
  }

  /** Objects whose labels match, in the order of their keys, in one namespace or in all. */
  select<T extends KubeObject>(
    kind: ObjectKind<T>,
    selector: LabelSelector,
    namespace?: string,
  ): readonly T[] {
    this.#kinds.set(kindName(kind), kind);
    this.#selections.push({ kind, selector, ...(namespace === undefined ? {} : { namespace }) });
    return this.#source
      .list(kind, namespace)
      .filter((object) => matchesLabels(selector, object.metadata.labels))
      .toSorted((a, b) => (objectKey(a.metadata) < objectKey(b.metadata) ? -1 : 1));
  }
}
