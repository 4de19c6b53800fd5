import { deepEqual, objectKey } from "@meridian/kube";
import type { KubeObject, ObjectMeta, ResourceType } from "@meridian/kube";

/** An object that was written: as it was wanted once it was there, and as the server keeps it. */
interface KeptWrite {
  readonly wanted: unknown;
  readonly stored: unknown;
}

/** Objects of one client; the one written longest ago is forgotten, and written once more than needed. */
const writesMax = 4096;

/**
 * Remembers what a server made of objects that it does not keep as they are written: it adds defaults, drops fields that it
 * does not know, or has somebody change them on the way. Such an object looks as if it had to be written for ever; by this it
 * is known that writing it again changes nothing, as long as both what is wanted and what is there stay as they were.
 */
export class KeptWrites {
  readonly #kept = new Map<string, KeptWrite>();

  /** Those of one client, which live as long as it does. */
  static of(client: object): KeptWrites {
    const known = byClient.get(client);
    if (known !== undefined) return known;
    const writes = new KeptWrites();
    byClient.set(client, writes);
    return writes;
  }

  /** Whether writing `wanted` over `current` would change nothing. */
  isSettled(
    key: string,
    { wanted, current }: { readonly wanted: unknown; readonly current: unknown },
  ): boolean {
    if (deepEqual(wanted, current)) return true;
    const kept = this.#kept.get(key);
    return kept !== undefined && deepEqual(kept.stored, current) && deepEqual(kept.wanted, wanted);
  }

  /** Takes note of a write: `stored` is what the server answered, `wanted` what would be wanted of that. */
  keep(key: string, { wanted, stored }: KeptWrite): void {
    this.#kept.delete(key);
    if (deepEqual(wanted, stored)) return;
    this.#kept.set(key, { wanted, stored });
    if (this.#kept.size <= writesMax) return;
    for (const oldest of this.#kept.keys()) {
      this.#kept.delete(oldest);
      return;
    }
  }
}

const byClient = new WeakMap<object, KeptWrites>();

/** What of an object its writers decide: all but its status and what the server counts. */
export function contentOf(object: KubeObject): object {
  const { status: _status, metadata, ...fields } = object as KubeObject & { readonly status?: unknown };
  const {
    resourceVersion: _resourceVersion,
    generation: _generation,
    managedFields: _managedFields,
    ...kept
  } = metadata;
  return { ...fields, metadata: kept };
}

/** Names a part of an object among all that one client writes. */
export function writeKey(type: ResourceType, metadata: ObjectMeta, part: "content" | "status"): string {
  return `${part} ${type.plural}.${type.group} ${objectKey(metadata)}`;
}
