import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, test } from "node:test";
import { silentLogger } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { writeAndSay, writingOptions } from "./acknowledging-writer.ts";
import type { Acknowledgement } from "./acknowledging-writer.ts";
import { openLmdbStorage } from "./lmdb/open-lmdb-storage.ts";
import { openMemoryStorage } from "./memory/open-memory-storage.ts";
import type { Storage, StorageEvent } from "./storage.ts";

/** How often a writer is killed. The whole proof sets it to hundreds. */
const kills = Number(process.env["MERIDIAN_STORAGE_KILLS"] ?? 10);

if (process.argv[2] === "write") {
  const options = writingOptions(process.argv.slice(3));
  await writeAndSay(nodeRuntime({ dataFolder: options.path, log: silentLogger }), options);
} else {
  describeCrashes();
  describeLock();
}

function describeCrashes(): void {
  for (const backend of ["lmdb", "log"] as const) {
    describe(`${backend} and kill -9`, () => {
      test(`after each of ${kills} kills everything acknowledged is there, under its revision`, async () => {
        const path = await mkdtemp(join(tmpdir(), "meridian-crash-"));
        try {
          const known = new Map<number, string>();
          let compacted = 1;
          let newest = 1;
          for (let kill = 1; kill <= kills; kill++) {
            const said = await writeAndDie(backend, { path, afterLines: 20 + ((kill * 7_919) % 400) });
            for (const line of said) {
              if ("opened" in line)
                assert.equal(line.opened, newest, "it opened at the revision that we saw");
              if ("compacted" in line) compacted = Math.max(compacted, line.compacted);
              if ("revision" in line) note(known, line.revision, shown(line.key, line.value));
            }
            const acknowledged = Math.max(newest, ...known.keys());

            const store = await open(backend, path);
            newest = store.revision();
            assert.ok(newest >= acknowledged, `revision ${newest} after ${acknowledged} was acknowledged`);
            assert.ok(store.compactedRevision() >= compacted);
            const events = await historyOf(store);
            assert.deepEqual(
              events.map((event) => Number(event.revision)),
              Array.from(
                { length: newest - store.compactedRevision() },
                (_, i) => store.compactedRevision() + 1 + i,
              ),
              "the history has no gap",
            );
            for (const event of events) note(known, event.revision, shownEvent(event));
            assert.deepEqual(await stateOf(store), modelOf(known, newest));
            await store[Symbol.asyncDispose]();
          }
          assert.ok(newest > kills * 20);
        } finally {
          await rm(path, { recursive: true, force: true });
        }
      });
    });
  }
}

function describeLock(): void {
  describe("the lock of an lmdb folder", () => {
    test("a second process is told who has the folder; a killed owner's lock is taken over", async () => {
      const path = await mkdtemp(join(tmpdir(), "meridian-lock-"));
      try {
        const child = spawn(
          process.execPath,
          [import.meta.filename, "write", "lmdb", path, "hold", "60000"],
          {
            stdio: ["ignore", "pipe", "inherit"],
          },
        );
        await new Promise((resolve) => child.stdout.once("data", resolve));
        await assert.rejects(open("lmdb", path), (error: Error & { code?: string }) => {
          assert.equal(error.code, "Locked");
          assert.ok(error.message.includes(path), error.message);
          assert.ok(error.message.includes(`process ${child.pid} `), error.message);
          return true;
        });
        const exited = new Promise((resolve) => child.once("exit", resolve));
        child.kill("SIGKILL");
        await exited;
        const store = await open("lmdb", path);
        await assert.rejects(open("lmdb", path), { code: "Locked", message: /this process has it open/ });
        assert.equal(
          (await store.create("a", new Uint8Array(1))).outcome,
          "written",
          "the refused opening did no harm",
        );
        await store[Symbol.asyncDispose]();
        await (await open("lmdb", path))[Symbol.asyncDispose]();
      } finally {
        await rm(path, { recursive: true, force: true });
      }
    });
  });
}

/** Lets a writer run until it has said so many lines, kills it, and returns all that it said. */
async function writeAndDie(
  backend: string,
  options: { path: string; afterLines: number },
): Promise<Acknowledgement[]> {
  const child = spawn(process.execPath, [import.meta.filename, "write", backend, options.path, "forever"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  const said: Acknowledgement[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    // The last line may be cut off in the middle.
    if (!line.endsWith("}")) continue;
    said.push(JSON.parse(line) as Acknowledgement);
    if (said.length === options.afterLines) child.kill("SIGKILL");
  }
  await exited;
  assert.equal(child.signalCode, "SIGKILL", "the writer ended by itself");
  return said;
}

function open(backend: string, path: string): Promise<Storage> {
  const runtime = nodeRuntime({ dataFolder: path, log: silentLogger });
  return backend === "lmdb"
    ? openLmdbStorage(runtime, { path })
    : openMemoryStorage(runtime, { persistent: true });
}

async function historyOf(store: Storage): Promise<StorageEvent[]> {
  const events: StorageEvent[] = [];
  const { signal } = new AbortController();
  for await (const batch of store.watch({ prefix: "", after: store.compactedRevision(), signal })) {
    events.push(...batch.events);
    if (batch.progress >= store.revision()) break;
  }
  return events;
}

async function stateOf(store: Storage): Promise<string[]> {
  const list = await store.list({ prefix: "" });
  return list.records.map((record) => shown(record.key, Buffer.from(record.value).toString())).toSorted();
}

function modelOf(known: ReadonlyMap<number, string>, newest: number): string[] {
  const state = new Map<string, string>();
  for (let revision = 2; revision <= newest; revision++) {
    const content = known.get(revision);
    assert.ok(content !== undefined, `revision ${revision} was never seen`);
    const [key = ""] = content.split(" ", 1);
    if (content.endsWith(" deleted")) state.delete(key);
    else state.set(key, content);
  }
  return [...state.values()].toSorted();
}

function shownEvent(event: StorageEvent): string {
  return event.type === "delete"
    ? shown(event.key, undefined)
    : shown(event.record.key, Buffer.from(event.record.value).toString());
}

function shown(key: string, value: string | undefined): string {
  return value === undefined ? `${key} deleted` : `${key} = ${value}`;
}

function note(known: Map<number, string>, revision: number, content: string): void {
  const before = known.get(revision);
  if (before !== undefined) assert.equal(content, before, `revision ${revision} changed its content`);
  known.set(revision, content);
}
