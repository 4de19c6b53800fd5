import { readRevision, revisionBytes, writeRevision } from "../revision-bytes.ts";
import type { StorageEvent, StoredRecord } from "../storage.ts";

/** `mod (8) create (8) value`, under the key. */
export function encodeRecord(record: StoredRecord): Buffer {
  const bytes = Buffer.allocUnsafe(2 * revisionBytes + record.value.byteLength);
  writeRevision(bytes, record.modRevision, 0);
  writeRevision(bytes, record.createRevision, revisionBytes);
  bytes.set(record.value, 2 * revisionBytes);
  return bytes;
}

/** Copies the value: LMDB's own bytes are valid for a moment only. */
export function decodeRecord(key: string, bytes: Buffer): StoredRecord {
  return {
    key,
    value: new Uint8Array(bytes.subarray(2 * revisionBytes)),
    modRevision: readRevision(bytes, 0),
    createRevision: readRevision(bytes, revisionBytes),
  };
}

/** An event as the history keeps it: what to undo. What was written stands in the state, or in a later undo. */
export interface Undo {
  readonly type: "put" | "delete";
  readonly key: string;
  readonly previous: StoredRecord | undefined;
}

/** `type (1) key length (2) key`, then the previous record, if there was one. Under the revision. */
export function encodeUndo(event: StorageEvent): Buffer {
  const key = event.type === "put" ? event.record.key : event.key;
  const keyBytes = Buffer.byteLength(key);
  const previous = event.previous === undefined ? undefined : encodeRecord(event.previous);
  const bytes = Buffer.allocUnsafe(3 + keyBytes + (previous?.length ?? 0));
  bytes.writeUInt8(event.type === "put" ? 1 : 2, 0);
  bytes.writeUInt16BE(keyBytes, 1);
  bytes.write(key, 3);
  previous?.copy(bytes, 3 + keyBytes);
  return bytes;
}

export function decodeUndo(bytes: Buffer): Undo {
  const keyEnd = 3 + bytes.readUInt16BE(1);
  const key = bytes.toString("utf8", 3, keyEnd);
  return {
    type: bytes.readUInt8(0) === 1 ? "put" : "delete",
    key,
    previous: keyEnd === bytes.length ? undefined : decodeRecord(key, bytes.subarray(keyEnd)),
  };
}

/** The key of a history entry. */
export function revisionKey(revision: number): Buffer {
  const key = Buffer.allocUnsafe(revisionBytes);
  writeRevision(key, revision, 0);
  return key;
}
