import { isJsonObject, type JsonObject } from "@meridian/kube";

/**
 * One step into an object, as managed fields write it: `f:NAME` a field, `k:{...}` the item of a list with these keys,
 * `v:VALUE` the member of a set, `i:N` the item at a place.
 */
export type PathElement = string;

/**
 * A set of paths within an object. A path may be a member without its children being any, and the other way round.
 *
 * `f:spec` → `f:ports` → `k:{"port":80}` as members of each level below:
 * ```text
 * {"f:spec": {"f:ports": {"k:{\"port\":80}": {".": {}, "f:name": {}}}}}
 * ```
 * says: the item with port 80 itself, and its name.
 */
export class FieldSet {
  static readonly empty: FieldSet = new FieldSet(new Set(), new Map());
  readonly members: ReadonlySet<PathElement>;
  readonly children: ReadonlyMap<PathElement, FieldSet>;

  constructor(members: ReadonlySet<PathElement>, children: ReadonlyMap<PathElement, FieldSet>) {
    this.members = members;
    this.children = children;
  }

  get isEmpty(): boolean {
    return this.members.size === 0 && this.children.size === 0;
  }

  child(element: PathElement): FieldSet {
    return this.children.get(element) ?? FieldSet.empty;
  }

  union(other: FieldSet): FieldSet {
    if (other.isEmpty) return this;
    if (this.isEmpty) return other;
    const children = new Map(this.children);
    for (const [element, child] of other.children) children.set(element, this.child(element).union(child));
    return new FieldSet(new Set([...this.members, ...other.members]), children);
  }

  difference(other: FieldSet): FieldSet {
    if (other.isEmpty) return this;
    return prunedSet(
      [...this.members].filter((element) => !other.members.has(element)),
      [...this.children].map(([element, child]) => [element, child.difference(other.child(element))]),
    );
  }

  intersection(other: FieldSet): FieldSet {
    return prunedSet(
      [...this.members].filter((element) => other.members.has(element)),
      [...this.children].map(([element, child]) => [element, child.intersection(other.child(element))]),
    );
  }

  /** Without the paths of `other` and everything below them. */
  differenceBelow(other: FieldSet): FieldSet {
    if (other.isEmpty) return this;
    return prunedSet(
      [...this.members].filter((element) => !other.members.has(element)),
      [...this.children]
        .filter(([element]) => !other.members.has(element))
        .map(([element, child]) => [element, child.differenceBelow(other.child(element))]),
    );
  }

  equals(other: FieldSet): boolean {
    return this.difference(other).isEmpty && other.difference(this).isEmpty;
  }

  /** All paths, in the order of their elements. */
  *paths(prefix: readonly PathElement[] = []): Generator<readonly PathElement[]> {
    for (const element of [...new Set([...this.members, ...this.children.keys()])].sort()) {
      const path = [...prefix, element];
      if (this.members.has(element)) yield path;
      yield* this.child(element).paths(path);
    }
  }
}

function prunedSet(
  members: readonly PathElement[],
  children: readonly (readonly [PathElement, FieldSet])[],
): FieldSet {
  return new FieldSet(new Set(members), new Map(children.filter(([, child]) => !child.isEmpty)));
}

/** Collects paths into a set. */
export class FieldSetBuilder {
  readonly #members = new Set<PathElement>();
  readonly #children = new Map<PathElement, FieldSetBuilder>();

  add(element: PathElement): void {
    this.#members.add(element);
  }

  below(element: PathElement): FieldSetBuilder {
    let child = this.#children.get(element);
    if (child === undefined) this.#children.set(element, (child = new FieldSetBuilder()));
    return child;
  }

  build(): FieldSet {
    return prunedSet(
      [...this.#members],
      [...this.#children].map(([element, child]) => [element, child.build()]),
    );
  }
}

/** Reads `fieldsV1`; `undefined` if it is malformed. */
export function parseFieldsV1(fields: unknown): FieldSet | undefined {
  if (!isJsonObject(fields)) return undefined;
  const members = new Set<PathElement>();
  const children = new Map<PathElement, FieldSet>();
  for (const [element, below] of Object.entries(fields)) {
    if (element === ".") continue;
    if (!/^(?:f:|v:|i:\d+$|k:\{)/.test(element) || !isJsonObject(below)) return undefined;
    const child = parseFieldsV1(below);
    if (child === undefined) return undefined;
    if (Object.keys(below).length === 0 || Object.hasOwn(below, ".")) members.add(element);
    if (!child.isEmpty) children.set(element, child);
  }
  return new FieldSet(members, children);
}

/** Writes `fieldsV1`. */
export function composeFieldsV1(set: FieldSet): JsonObject {
  const fields: Record<string, JsonObject> = {};
  for (const element of [...new Set([...set.members, ...set.children.keys()])].sort()) {
    const below = composeFieldsV1(set.child(element));
    fields[element] =
      set.members.has(element) && Object.keys(below).length > 0 ? { ".": {}, ...below } : below;
  }
  return fields;
}
