import assert from "node:assert/strict";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { silentLogger } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { open } from "lmdb";
import type { Revision, Storage, WriteResult } from "../storage.ts";
import { openLmdbStorage } from "./open-lmdb-storage.ts";
import type { LmdbStorageOptions } from "./open-lmdb-storage.ts";

describe("lmdb storage", () => {
  inFolder(
    "at its size limit it refuses what grows it, and goes on after deletions are compacted",
    async (path) => {
      const sizeBytesMax = 2 * 1_024 * 1_024;
      const store = await openIn(path, { sizeBytesMax });
      const written: { key: string; revision: Revision }[] = [];
      let failure: unknown;
      for (let i = 0; i < 1_000 && failure === undefined; i++) {
        const key = `a/${i}`;
        try {
          written.push({ key, revision: revisionOf(await store.create(key, new Uint8Array(10_000))) });
        } catch (error) {
          failure = error;
        }
      }
      assert.equal((failure as { code?: string }).code, "Full");
      assert.match(String(failure), /the store is full; delete objects or raise its size limit/);
      assert.ok(written.length > 100, `${written.length} values of 10 kB fit into 2 MiB`);
      const { size } = await stat(join(path, "data.mdb"));
      assert.ok(size < sizeBytesMax * 1.5, `the file has ${size} octets`);

      for (const { key, revision } of written.slice(0, 60)) revisionOf(await store.delete(key, revision));
      await store.compact(store.revision());
      revisionOf(await store.create("b/1", new Uint8Array(10_000)));
      assert.equal((await store.list({ prefix: "" })).records.length, written.length - 60 + 1);
      await store[Symbol.asyncDispose]();
    },
  );

  inFolder(
    "a full store writes on without growing its file while the live data stays small",
    async (path) => {
      const store = await openIn(path, { sizeBytesMax: 4 * 1_024 * 1_024, retention: { revisionsMin: 10 } });
      let revision = revisionOf(await store.create("a/1", new Uint8Array(20_000)));
      for (let i = 0; i < 1_000; i++)
        revision = revisionOf(await store.update("a/1", new Uint8Array(20_000), revision));
      const { size } = await stat(join(path, "data.mdb"));
      assert.ok(size < 6 * 1_024 * 1_024, `the file has ${size} octets after 20 MB were written`);
      await store[Symbol.asyncDispose]();
    },
  );

  inFolder("a folder with a dot in its name is a folder", async (path) => {
    const store = await openIn(join(path, "eu.data"));
    revisionOf(await store.create("a", new Uint8Array(1)));
    await store[Symbol.asyncDispose]();
    assert.ok((await stat(join(path, "eu.data"))).isDirectory());
  });

  inFolder("no read transaction stays open", async (path) => {
    const store = await openIn(path);
    for (let i = 0; i < 20; i++) revisionOf(await store.create(`a/${i}`, new Uint8Array(100)));
    await store.list({ prefix: "a/", revision: 5 as Revision });
    const other = open({ path, noSubdir: false, overlappingSync: false });
    const own = other
      .readerList()
      .split("\n")
      .filter((line) => line.trim().startsWith(String(process.pid)));
    for (const line of own) assert.match(line, /-\s*$/, `a reader without a transaction: ${line}`);
    await other.close();
    await store[Symbol.asyncDispose]();
  });

  inFolder("a file of something else is not touched", async (path) => {
    await writeFile(join(path, "data.mdb"), Buffer.alloc(20_000, 7));
    await assert.rejects(openIn(path), {
      code: "Corrupt",
      message: /data\.mdb was not written by LMDB; restore it/,
    });
  });

  inFolder("an environment of another format is refused with both names", async (path) => {
    await (await openIn(path))[Symbol.asyncDispose]();
    await change(path, { table: "meta", key: "format", value: Buffer.from("meridian storage 9") });
    await assert.rejects(openIn(path), {
      code: "Corrupt",
      message: /"meridian storage 9".*"meridian storage 1"/,
    });
    await assert.rejects(openIn(path), { code: "Corrupt" }, "and its lock was given back");
  });

  inFolder("a history that does not fit the state is found at opening", async (path) => {
    const store = await openIn(path);
    const first = revisionOf(await store.create("a", Buffer.from("one")));
    revisionOf(await store.update("a", Buffer.from("two"), first));
    await store[Symbol.asyncDispose]();
    await change(path, { table: "state", key: "a", value: undefined });
    await assert.rejects(openIn(path), { code: "Corrupt", message: /revision 3 of "a" does not fit/ });
  });

  inFolder("a path that cannot be a folder says so", async (path) => {
    await writeFile(join(path, "file"), "");
    await assert.rejects(openIn(join(path, "file")), {
      code: "NoAccess",
      message: /give this user write access/,
    });
    await assert.rejects(openIn(join(path, "file", "below")), { code: "NoAccess" });
  });
});

function inFolder(name: string, body: (path: string) => Promise<void>): void {
  test(name, async () => {
    const path = await mkdtemp(join(tmpdir(), "meridian-lmdb-"));
    try {
      await body(path);
    } finally {
      await rm(path, { recursive: true, force: true });
    }
  });
}

function openIn(path: string, options: Omit<LmdbStorageOptions, "path"> = {}): Promise<Storage> {
  return openLmdbStorage(nodeRuntime({ dataFolder: path, log: silentLogger }), { path, ...options });
}

async function change(
  path: string,
  options: { table: string; key: string; value: Buffer | undefined },
): Promise<void> {
  const root = open<Buffer, Buffer>({ path, noSubdir: false, overlappingSync: false, encoding: "binary" });
  const table = root.openDB<Buffer, Buffer>({
    name: options.table,
    encoding: "binary",
    keyEncoding: "binary",
  });
  if (options.value === undefined) await table.remove(Buffer.from(options.key));
  else await table.put(Buffer.from(options.key), options.value);
  await root.close();
}

function revisionOf(result: WriteResult): Revision {
  assert.equal(result.outcome, "written");
  return (result as WriteResult & { outcome: "written" }).revision;
}
