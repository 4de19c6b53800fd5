import { type StorageEvent, StorageError, type StoredRecord } from "../storage/storage.ts";
import type { ApiContext } from "../verbs/api-context.ts";

/** A step of following a prefix: everything anew, or what changed since the last step. */
export type StoreStep =
  | { readonly kind: "state"; readonly records: readonly StoredRecord[] }
  | { readonly kind: "changes"; readonly events: readonly StorageEvent[] };

/**
 * Follows everything below a prefix until the server closes: the state once, then its changes without gap or
 * duplicate. A reader who is too slow resumes; one whose history is gone gets the state again.
 */
export async function* followStore(context: ApiContext, prefix: string): AsyncGenerator<StoreStep> {
  const { storage } = context.objects;
  while (!context.closing.aborted) {
    const state = await storage.list({ prefix });
    yield { kind: "state", records: state.records };
    let after = state.revision;
    try {
      while (!context.closing.aborted) {
        for await (const batch of storage.watch({ prefix, after, signal: context.closing })) {
          if (batch.events.length > 0) yield { kind: "changes", events: batch.events };
          after = batch.progress;
        }
      }
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      if (error.code === "Closed") return;
      if (error.code !== "Compacted") throw error;
    }
  }
}
