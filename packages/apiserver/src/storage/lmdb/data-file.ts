import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";

/** LMDB's mark at the head of a meta page (MDB_MAGIC), in the byte order of the common machines. */
const magic: Buffer = Buffer.from([0xde, 0xc0, 0xef, 0xbe]);

/**
 * Whether an environment's file starts as LMDB writes it; an absent or empty one counts as fine. LMDB maps the file and
 * trusts it, so a foreign file must be kept from it: it would end the process, not throw.
 */
export function looksLikeLmdb(folder: string): boolean {
  let file: number;
  try {
    file = openSync(join(folder, "data.mdb"), "r");
  } catch {
    return true; // Absent, or not for us to read: the opening itself tells that better.
  }
  try {
    const head = Buffer.alloc(64);
    const length = readSync(file, head, 0, head.length, 0);
    return length === 0 || head.includes(magic);
  } finally {
    closeSync(file);
  }
}
