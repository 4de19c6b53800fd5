import type { Runtime } from "@meridian/runtime";
import { openLmdbStorage } from "./lmdb/open-lmdb-storage.ts";
import { openMemoryStorage } from "./memory/open-memory-storage.ts";
import type { Revision, Storage } from "./storage.ts";

/** What one line says. */
export type Acknowledgement =
  | { readonly opened: Revision; readonly pid: number }
  | { readonly revision: Revision; readonly key: string; readonly value: string | undefined }
  | { readonly compacted: Revision };

export interface WritingOptions {
  readonly backend: "lmdb" | "log";
  readonly path: string;
  readonly mode: "hold" | "sequential" | "concurrent" | "forever";
  readonly count: number;
}

/**
 * The body of a process that a test kills or traces: it opens a store, writes, and prints one JSON line for each write
 * after it was acknowledged. In mode `hold` it only keeps the store open, for `count` milliseconds.
 */
export async function writeAndSay(runtime: Runtime, options: WritingOptions): Promise<void> {
  const { backend, path, mode, count } = options;
  const store =
    backend === "lmdb"
      ? await openLmdbStorage(runtime, { path })
      : await openMemoryStorage(runtime, { persistent: true, snapshotAfterBytes: 300_000 });
  await say({ opened: store.revision(), pid: process.pid });
  const numbers = Array.from({ length: count }, (_, number) => number);
  switch (mode) {
    case "sequential":
      for (const number of numbers) await create(store, number);
      break;
    case "concurrent":
      await Promise.all(numbers.map((number) => create(store, number)));
      break;
    case "forever":
      await Promise.all(Array.from({ length: 8 }, (_, writer) => writeForever(store, writer)));
      break;
    case "hold":
      await runtime.clock.sleep(count);
      break;
  }
  await store[Symbol.asyncDispose]();
}

/** The options, from the arguments of the process: backend, path, mode, count. */
export function writingOptions(words: readonly string[]): WritingOptions {
  const [backend, path = "", mode, count] = words;
  return {
    backend: backend === "lmdb" ? "lmdb" : "log",
    path,
    mode: mode === "sequential" || mode === "concurrent" || mode === "forever" ? mode : "hold",
    count: Number(count ?? 0),
  };
}

/** Resolves when the line has left the process, so that a killed one has at most one unsaid line per writer. */
function say(line: Acknowledgement): Promise<void> {
  return new Promise((resolve) => process.stdout.write(`${JSON.stringify(line)}\n`, () => resolve()));
}

async function create(store: Storage, number: number): Promise<void> {
  const key = `key/${number}`;
  const value = `value ${number}`;
  const result = await store.create(key, Buffer.from(value));
  if (result.outcome === "written") await say({ revision: result.revision, key, value });
}

/** One of several writers with keys of its own: creates, changes, deletes, and compacts now and then. */
async function writeForever(store: Storage, writer: number): Promise<void> {
  for (let round = 0; ; round++) {
    const key = `writer-${writer}/${round % 10}`;
    const current = await store.get(key);
    const value = `${round} ${"x".repeat((round * 379) % 9_000)}`;
    let result;
    if (current === undefined) result = await store.create(key, Buffer.from(value));
    else if (round % 7 === 0) result = await store.delete(key, current.modRevision);
    else result = await store.update(key, Buffer.from(value), current.modRevision);
    if (result.outcome !== "written") throw new Error(`nobody else writes ${key}`);
    await say({
      revision: result.revision,
      key,
      value: current !== undefined && round % 7 === 0 ? undefined : value,
    });
    if (writer === 0 && round % 50 === 49) {
      const compacted = (store.revision() - 100) as Revision;
      if (compacted <= store.compactedRevision()) continue;
      await store.compact(compacted);
      await say({ compacted });
    }
  }
}
