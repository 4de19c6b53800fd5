import type { Storage } from "@meridian/apiserver";
import type { TruthLog } from "./truth-log.ts";

type WriteResult = Awaited<ReturnType<Storage["create"]>>;
type Revision = ReturnType<Storage["revision"]>;

/** The same store; each write that it acknowledges is noted in `log`. */
export function recordedStorage(storage: Storage, log: TruthLog, nowMs: () => number): Storage {
  const note = async (
    write: Promise<WriteResult>,
    key: string,
    value: Uint8Array | undefined,
  ): Promise<WriteResult> => {
    const result = await write;
    if (result.outcome === "written") log.record({ key, value, revision: result.revision, atMs: nowMs() });
    return result;
  };
  return {
    revision: () => storage.revision(),
    compactedRevision: () => storage.compactedRevision(),
    get: (key) => storage.get(key),
    list: (options) => storage.list(options),
    watch: (options) => storage.watch(options),
    compact: (revision) => storage.compact(revision),
    create: (key, value) => note(storage.create(key, value), key, value),
    update: (key, value, expected) => note(storage.update(key, value, expected), key, value),
    delete: (key, expected) => note(storage.delete(key, expected), key, undefined),
    [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose](),
  };
}

/**
 * Compares a store that was opened again with everything it had acknowledged before, and notes the writes that became
 * durable without anybody hearing of it. Call it before anybody else uses the store.
 *
 * @returns what is wrong, for people; nothing where all is well
 */
export async function compareReopened(
  storage: Storage,
  log: TruthLog,
  nowMs: number,
): Promise<readonly string[]> {
  const wrong: string[] = [];
  const newest = storage.revision();
  if (newest < log.newest) {
    wrong.push(`revision ${log.newest} was acknowledged, and the store came back at ${newest}`);
    return wrong;
  }
  const readable = Math.max(log.newest, storage.compactedRevision());
  for (let revision = readable; revision <= newest; revision++) {
    wrong.push(...(await compareAt(storage, log, { revision: revision as Revision, nowMs })));
  }
  return wrong;
}

async function compareAt(
  storage: Storage,
  log: TruthLog,
  at: { readonly revision: Revision; readonly nowMs: number },
): Promise<readonly string[]> {
  const acknowledged = log.newest;
  const { records } = await storage.list({ prefix: "", revision: at.revision });
  const found = new Map(records.map((record) => [record.key, record]));
  const wrong: string[] = [];
  for (const [key, event] of log.at("", acknowledged)) {
    const record = found.get(key);
    if (record === undefined && at.revision === acknowledged) {
      wrong.push(`${key} was acknowledged at revision ${event.revision} and is gone`);
    } else if (record === undefined) {
      log.record({ key, value: undefined, revision: at.revision, atMs: at.nowMs });
    } else if (record.modRevision === event.revision && !sameOctets(record.value, event.value)) {
      wrong.push(`${key} has another value at revision ${event.revision} than was acknowledged`);
    } else if (record.modRevision < event.revision) {
      wrong.push(
        `${key} was acknowledged at revision ${event.revision} and came back at ${record.modRevision}`,
      );
    }
  }
  for (const record of records) {
    const known = log.current(record.key);
    if (known?.revision === record.modRevision) continue;
    if (record.modRevision <= acknowledged) {
      wrong.push(
        `${record.key} came back at revision ${record.modRevision}, which was never acknowledged for it`,
      );
    } else log.record({ key: record.key, value: record.value, revision: record.modRevision, atMs: at.nowMs });
  }
  return wrong;
}

function sameOctets(a: Uint8Array, b: Uint8Array | undefined): boolean {
  return b !== undefined && a.length === b.length && a.every((octet, index) => octet === b[index]);
}
