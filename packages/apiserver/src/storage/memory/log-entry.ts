import type { CommitGroup } from "../journal.ts";
import { readRevision, revisionBytes, writeRevision } from "../revision-bytes.ts";
import type { Revision, StoredRecord } from "../storage.ts";
import { frameHeaderBytes, sealFrame } from "./frame.ts";

/**
 * What one frame of a log or a snapshot says.
 *
 * A log is a header and groups. A snapshot is a header, the records as they stood at the compacted revision, the events
 * since then as groups, and an end. So both are read by the same replay, which finds the previous values by itself.
 */
export type LogEntry =
  | {
      readonly kind: "header";
      /** Seed of the checksums of all further frames. */
      readonly nonce: number;
      /** The store's revision and compacted revision before the first entry. */
      readonly revision: Revision;
      readonly compacted: Revision;
    }
  | {
      readonly kind: "group";
      readonly first: Revision;
      readonly changes: readonly Change[];
      readonly compacted: number;
    }
  | { readonly kind: "records"; readonly records: readonly StoredRecord[] }
  | { readonly kind: "end"; readonly revision: Revision };

export type Change =
  | { readonly type: "put"; readonly key: string; readonly value: Uint8Array }
  | { readonly type: "delete"; readonly key: string };

const formatVersion = 1;
const kinds = { header: 1, group: 2, records: 3, end: 4 } as const;
const changeTypes = { put: 1, delete: 2 } as const;

/** The frame of a group. A group without an event has the revision before it as `first`. */
export function encodeGroup(group: CommitGroup, nonce: number): Buffer {
  let size = frameHeaderBytes + 1 + 2 * revisionBytes + 4;
  for (const event of group.events) {
    size +=
      event.type === "put"
        ? 7 + Buffer.byteLength(event.record.key) + event.record.value.byteLength
        : 3 + Buffer.byteLength(event.key);
  }
  const frame = Buffer.allocUnsafe(size);
  let at = frame.writeUInt8(kinds.group, frameHeaderBytes);
  writeRevision(frame, group.events[0]?.revision ?? 0, at);
  writeRevision(frame, group.compacted ?? 0, at + revisionBytes);
  at = frame.writeUInt32BE(group.events.length, at + 2 * revisionBytes);
  for (const event of group.events) {
    at = frame.writeUInt8(changeTypes[event.type], at);
    at = writeKey(frame, event.type === "put" ? event.record.key : event.key, at);
    if (event.type === "put") at = writeValue(frame, event.record.value, at);
  }
  return sealFrame(frame, nonce);
}

export function encodeHeader(header: { nonce: number; revision: Revision; compacted: Revision }): Buffer {
  const frame = Buffer.alloc(frameHeaderBytes + 2 + 4 + 2 * revisionBytes);
  let at = frame.writeUInt8(kinds.header, frameHeaderBytes);
  at = frame.writeUInt8(formatVersion, at);
  at = frame.writeUInt32BE(header.nonce, at);
  writeRevision(frame, header.revision, at);
  writeRevision(frame, header.compacted, at + revisionBytes);
  return sealFrame(frame, 0);
}

export function encodeRecords(records: readonly StoredRecord[], nonce: number): Buffer {
  let size = frameHeaderBytes + 1 + 4;
  for (const record of records) {
    size += 2 * revisionBytes + 6 + Buffer.byteLength(record.key) + record.value.byteLength;
  }
  const frame = Buffer.allocUnsafe(size);
  let at = frame.writeUInt8(kinds.records, frameHeaderBytes);
  at = frame.writeUInt32BE(records.length, at);
  for (const record of records) {
    writeRevision(frame, record.modRevision, at);
    writeRevision(frame, record.createRevision, at + revisionBytes);
    at = writeKey(frame, record.key, at + 2 * revisionBytes);
    at = writeValue(frame, record.value, at);
  }
  return sealFrame(frame, nonce);
}

export function encodeEnd(revision: Revision, nonce: number): Buffer {
  const frame = Buffer.alloc(frameHeaderBytes + 1 + revisionBytes);
  frame.writeUInt8(kinds.end, frameHeaderBytes);
  writeRevision(frame, revision, frameHeaderBytes + 1);
  return sealFrame(frame, nonce);
}

/** Reads a payload whose checksum was right. Throws RangeError where it is none of this format's nonetheless. */
export function decodeEntry(payload: Buffer): LogEntry {
  switch (payload.readUInt8(0)) {
    case kinds.header: {
      const version = payload.readUInt8(1);
      if (version !== formatVersion) {
        throw new RangeError(`written in format ${version}, which this version does not read`);
      }
      return {
        kind: "header",
        nonce: payload.readUInt32BE(2),
        revision: readRevision(payload, 6),
        compacted: readRevision(payload, 6 + revisionBytes),
      };
    }
    case kinds.group:
      return decodeGroup(payload);
    case kinds.records:
      return decodeRecords(payload);
    case kinds.end:
      return { kind: "end", revision: readRevision(payload, 1) };
    default:
      throw new RangeError(`unknown kind of entry ${payload.readUInt8(0)}`);
  }
}

function decodeGroup(payload: Buffer): LogEntry {
  const first = readRevision(payload, 1);
  const compacted = readRevision(payload, 1 + revisionBytes);
  let at = 1 + 2 * revisionBytes;
  const count = payload.readUInt32BE(at);
  at += 4;
  const changes: Change[] = [];
  for (let i = 0; i < count; i++) {
    const type = payload.readUInt8(at);
    const key = readKey(payload, at + 1);
    at = key.end;
    if (type === changeTypes.put) {
      const value = readValue(payload, at);
      at = value.end;
      changes.push({ type: "put", key: key.text, value: value.bytes });
    } else if (type === changeTypes.delete) {
      changes.push({ type: "delete", key: key.text });
    } else {
      throw new RangeError(`unknown type of change ${type}`);
    }
  }
  return { kind: "group", first, changes, compacted };
}

function decodeRecords(payload: Buffer): LogEntry {
  const count = payload.readUInt32BE(1);
  let at = 5;
  const records: StoredRecord[] = [];
  for (let i = 0; i < count; i++) {
    const modRevision = readRevision(payload, at);
    const createRevision = readRevision(payload, at + revisionBytes);
    const key = readKey(payload, at + 2 * revisionBytes);
    const value = readValue(payload, key.end);
    at = value.end;
    records.push({ key: key.text, value: value.bytes, modRevision, createRevision });
  }
  return { kind: "records", records };
}

function writeKey(target: Buffer, key: string, offset: number): number {
  const length = target.write(key, offset + 2);
  target.writeUInt16BE(length, offset);
  return offset + 2 + length;
}

function readKey(source: Buffer, offset: number): { text: string; end: number } {
  const end = offset + 2 + source.readUInt16BE(offset);
  if (end > source.length) throw new RangeError("a key runs over the end of its entry");
  return { text: source.toString("utf8", offset + 2, end), end };
}

function writeValue(target: Buffer, value: Uint8Array, offset: number): number {
  target.writeUInt32BE(value.byteLength, offset);
  target.set(value, offset + 4);
  return offset + 4 + value.byteLength;
}

/** Copies: a value must not keep the whole file in memory. */
function readValue(source: Buffer, offset: number): { bytes: Uint8Array; end: number } {
  const end = offset + 4 + source.readUInt32BE(offset);
  if (end > source.length) throw new RangeError("a value runs over the end of its entry");
  return { bytes: new Uint8Array(source.subarray(offset + 4, end)), end };
}
