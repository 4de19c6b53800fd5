import { deepEqual, type KubeObject } from "@meridian/kube";

/** A status as it was wanted and as the server kept it, which differ where an older CRD prunes fields. */
interface KeptStatus<S> {
  readonly uid: string | undefined;
  readonly wanted: S;
  readonly stored: S | undefined;
}

/**
 * What was last written as the status of objects, by key. Where k8gb's own CRD keeps only a part of it, conditions that it
 * prunes would else look new, and be told and dated anew, each time.
 */
export class KeptStatuses<S> {
  readonly #kept = new Map<string, KeptStatus<S>>();

  /** An object's status as it was last wanted, as long as what the server kept of that is there; else as it stands. */
  of(key: string, { metadata, status }: KubeObject & { readonly status?: S }): S | undefined {
    const kept = this.#kept.get(key);
    const isKept = kept !== undefined && kept.uid === metadata.uid && deepEqual(kept.stored, status);
    return isKept ? kept.wanted : status;
  }

  /** Takes note of a status that was written, by the object that the server answered. */
  set(key: string, wanted: S, { metadata, status }: KubeObject & { readonly status?: S }): void {
    this.#kept.set(key, { uid: metadata.uid, wanted, stored: status });
  }

  /** The object is gone. */
  forget(key: string): void {
    this.#kept.delete(key);
  }
}
