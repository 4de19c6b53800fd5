import { objectKey } from "@meridian/kube";
import type { ObjectMeta } from "@meridian/kube";
import { ControllerError } from "../controller-error.ts";
import type { ObjectFormat } from "../client/object-format.ts";
import type { CompactVersion, ObjectReading } from "../client/object-reading.ts";

/** A run of octets that holds objects, one behind the other. It is never written twice. */
export interface Slab {
  readonly octets: Buffer;
  readonly objects: RawObject<unknown>[];
  /** Makes whole what a list leaves out of its items. */
  readonly complete: CompleteObject;
  /** Octets in use, from the start. */
  filled: number;
  /** Octets of objects that somebody holds. */
  live: number;
}

/** Adds to a parsed object what a list leaves out of its items, and returns it. */
export type CompleteObject = (value: unknown) => unknown;

/**
 * One state of one object, kept as the octets that the server sent: a fraction of what it takes as a value. It is decoded
 * when somebody wants to read it, and the value is shared for as long as anybody holds it.
 */
export class RawObject<T> {
  /** `namespace/name`, or `name`. */
  readonly key: string;
  readonly version: CompactVersion;
  /** Where the octets are; they may be moved. */
  slab: Slab;
  at: number;
  readonly length: number;
  /** Where the uid is, counted from `at`. */
  readonly #uidAt: number;
  readonly #uidLength: number;
  readonly #format: ObjectFormat;
  /** How many hold it: the copy, and feeds that are still to tell of it. */
  holders = 0;
  #memo: WeakRef<object> | undefined;

  constructor(
    reading: ObjectReading,
    place: { readonly key: string; readonly slab: Slab; readonly at: number },
  ) {
    this.key = place.key;
    this.version = reading.version;
    this.slab = place.slab;
    this.at = place.at;
    this.length = reading.end - reading.start;
    this.#uidAt = reading.uidStart - reading.start;
    this.#uidLength = reading.uidEnd - reading.uidStart;
    this.#format = reading.format;
  }

  /** As the API spells it; empty if the object has none. */
  get resourceVersion(): string {
    return String(this.version);
  }

  /**
   * The object, frozen through and through, the same for all.
   *
   * @throws ControllerError `MalformedResponse` if it cannot be decoded, or says twice and differently which state of which object
   * it is
   */
  decode(): T {
    const value = this.decodeOnce();
    if (this.#memo?.deref() === undefined) this.remember(value as object);
    return value;
  }

  /**
   * As `decode`, for whoever hands the value on and expects nobody to ask for it again soon. To remember a value weakly is
   * dear when many are decoded in one turn: all of them live until its end.
   */
  decodeOnce(): T {
    const known = this.#memo?.deref();
    if (known !== undefined) return known as T;
    const { octets, complete } = this.slab;
    const decoded = this.#format.decode(octets, this.at, this.at + this.length);
    const value = complete(decoded) as { readonly metadata?: ObjectMeta | null };
    // Of two fields of one name the reader takes the first and JSON.parse the last: nobody may act on one for the other.
    const differing = this.#differingField(value.metadata ?? {});
    if (differing !== undefined) {
      const message = `the object ${this.key} has another ${differing} when it is read as a whole`;
      throw new ControllerError("MalformedResponse", message);
    }
    return freezeTree(value) as T;
  }

  #differingField(metadata: ObjectMeta): "name" | "resourceVersion" | "uid" | undefined {
    if (objectKey(metadata) !== this.key) return "name";
    const { uid, resourceVersion = "" } = metadata;
    if (String(resourceVersion) !== String(this.version)) return "resourceVersion";
    const from = this.at + this.#uidAt;
    const read = this.slab.octets.toString("utf8", from, from + this.#uidLength);
    const text = typeof uid === "string" ? uid : "";
    // What was read stands as it does in JSON: a uid of odd characters is escaped there.
    return read === text || `"${read}"` === JSON.stringify(text) ? undefined : "uid";
  }

  /** `value` is what `decode` would return. */
  remember(value: object): void {
    this.#memo = new WeakRef(value);
  }

  /** Whether both are states of one object, and not of two of the same name. */
  hasUidOf(other: RawObject<T>): boolean {
    return sameOctets(
      { octets: this.slab.octets, start: this.at + this.#uidAt, length: this.#uidLength },
      { octets: other.slab.octets, start: other.at + other.#uidAt, length: other.#uidLength },
    );
  }

  /** Whether a reading is of this very state. Without a version nobody knows. */
  isStateOf(reading: ObjectReading): boolean {
    return (
      this.version === reading.version &&
      this.version !== "" &&
      sameOctets(
        { octets: this.slab.octets, start: this.at + this.#uidAt, length: this.#uidLength },
        { octets: reading.octets, start: reading.uidStart, length: reading.uidEnd - reading.uidStart },
      )
    );
  }
}

interface OctetRange {
  readonly octets: Uint8Array;
  readonly start: number;
  readonly length: number;
}

function sameOctets(a: OctetRange, b: OctetRange): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a.octets[a.start + at] !== b.octets[b.start + at]) return false;
  return true;
}

/** Freezes what was just parsed, so that no part of it can be shared or be frozen yet. */
export function freezeTree<T extends object>(value: T): T {
  try {
    return freezeParts(value);
  } catch (error) {
    // API servers let a user nest an object 10,000 deep, which is deeper than the stack.
    if (!(error instanceof RangeError)) throw error;
    return freezeDeepTree(value);
  }
}

function freezeParts<T extends object>(value: T): T {
  if (Array.isArray(value)) {
    for (const part of value as readonly unknown[])
      if (typeof part === "object" && part !== null) freezeParts(part);
  } else {
    for (const name in value) {
      const part = value[name];
      if (typeof part === "object" && part !== null) freezeParts(part);
    }
  }
  return Object.freeze(value);
}

/** The same without recursion, which is slower. */
function freezeDeepTree<T extends object>(value: T): T {
  const open: object[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const part of Object.values(next) as readonly unknown[])
      if (typeof part === "object" && part !== null) open.push(part);
    Object.freeze(next);
  }
  return value;
}
