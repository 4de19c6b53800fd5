import assert from "node:assert/strict";
import type { Revision, Storage, StorageErrorCode, WriteResult } from "../storage.ts";

/** Waits until what was queued before is durable: groups go out in order. */
export async function settled(store: Storage): Promise<void> {
  written(await store.create(`settled/${store.revision()}`, bytes("v")));
}

/** Creates keys with numbers behind a prefix, all at once. */
export async function createMany(store: Storage, options: { prefix: string; count: number }): Promise<void> {
  const names = Array.from(
    { length: options.count },
    (_, i) => `${options.prefix}${String(i).padStart(5, "0")}`,
  );
  await Promise.all(names.map((name) => store.create(name, bytes("v"))));
}

/** All records at a revision, or now, as text. */
export async function stateOf(store: Storage, revision?: Revision): Promise<string> {
  const list = await store.list({ prefix: "", ...(revision === undefined ? {} : { revision }) });
  return list.records.map((record) => `${record.key}=${text(record.value)}`).join(" ");
}

/** The keys of a list. */
export function keys(list: { readonly records: readonly { readonly key: string }[] }): string[] {
  return list.records.map((record) => record.key);
}

/** The revision of a write that must have succeeded. */
export function written(result: WriteResult): Revision {
  assert.equal(result.outcome, "written");
  return (result as WriteResult & { outcome: "written" }).revision;
}

/** Asserts that a promise rejects with a StorageError of this code. */
export async function rejectsWith(promise: Promise<unknown>, code: StorageErrorCode): Promise<void> {
  await assert.rejects(promise, { name: "StorageError", code });
}

/** What of a record is compared. */
export function shown(
  record: { key: string; value: Uint8Array; modRevision: number; createRevision: number } | undefined,
): unknown {
  return record && [record.key, text(record.value), record.modRevision, record.createRevision];
}

/** UTF-8. */
export function bytes(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

/** One character for each octet. */
export function text(value: Uint8Array | undefined): string {
  return Buffer.from(value ?? []).toString("latin1");
}

/** Octets that differ from those of other sizes. */
export function patterned(size: number): Uint8Array {
  return Uint8Array.from({ length: size }, (_, i) => (i * 31 + size) & 0xff);
}
