import type { Disk } from "@meridian/runtime";
import type { RecordTree } from "../record-tree.ts";
import type { Revision, StorageEvent, StoredRecord } from "../storage.ts";
import { encodeEnd, encodeGroup, encodeHeader, encodeRecords } from "./log-entry.ts";

/** Octets of values per frame: large enough to write fast, small enough to let other work through between two. */
const frameValueBytes = 512 * 1_024;

export interface SnapshotContent {
  readonly nonce: number;
  readonly revision: Revision;
  readonly compacted: Revision;
  /** The state at `compacted`. */
  readonly baseTree: RecordTree;
  /** Everything from there to `revision`. */
  readonly events: readonly StorageEvent[];
}

/** Writes a snapshot, frame by frame, and makes it durable. Returns its size. */
export async function writeSnapshot(disk: Disk, path: string, content: SnapshotContent): Promise<number> {
  await disk.remove(path);
  const file = await disk.openLog(path);
  try {
    for (const frame of framesOf(content)) await file.append(frame);
    await file.sync();
    return file.sizeBytes;
  } finally {
    await file.close();
  }
}

function* framesOf(content: SnapshotContent): Generator<Buffer> {
  const { nonce, revision, compacted, baseTree, events } = content;
  yield encodeHeader({ nonce, revision, compacted });

  const step = 1_024;
  let records: StoredRecord[] = [];
  let bytes = 0;
  for (let start = 0; start < baseTree.size; start += step) {
    for (const record of baseTree.slice(start, start + step)) {
      records.push(record);
      bytes += record.value.byteLength;
      if (bytes < frameValueBytes) continue;
      yield encodeRecords(records, nonce);
      records = [];
      bytes = 0;
    }
  }
  if (records.length > 0) yield encodeRecords(records, nonce);

  let group: StorageEvent[] = [];
  bytes = 0;
  for (const event of events) {
    group.push(event);
    bytes += event.type === "put" ? event.record.value.byteLength : 0;
    if (bytes < frameValueBytes && group.length < step) continue;
    yield encodeGroup({ events: group, compacted: undefined }, nonce);
    group = [];
    bytes = 0;
  }
  if (group.length > 0) yield encodeGroup({ events: group, compacted: undefined }, nonce);
  yield encodeEnd(revision, nonce);
}
