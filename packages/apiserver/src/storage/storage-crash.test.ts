import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Disk, DiskLog, Random } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import type { SimNode } from "@meridian/runtime/sim";
import { openMemoryStorage } from "./memory/open-memory-storage.ts";
import { StorageError } from "./storage.ts";
import type { Revision, Storage, StorageEvent } from "./storage.ts";

/**
 * The write-ahead log under random writers, compactions and crashes, against a naive model: one array of everything
 * that was acknowledged or seen, by revision.
 */
const seeds = Number(process.env["MERIDIAN_STORAGE_SEEDS"] ?? 60);

describe("memory storage under crashes", () => {
  test(`nothing acknowledged or seen is lost or changed (${seeds} seeds)`, async () => {
    for (let seed = 1; seed <= seeds; seed++) {
      try {
        await runSeed(seed);
      } catch (cause) {
        throw new Error(`seed ${seed} fails`, { cause });
      }
    }
  });

  test("a full disk refuses writes until there is space, and loses nothing", async () => {
    const simulation = new Simulation({ seed: 1 });
    const node = simulation.node({ name: "store", addresses: ["192.0.2.1"] });
    const disk = new FillingDisk(node.runtime.disk);
    const runtime = { ...node.runtime, disk };
    const store = await simulation.complete(openMemoryStorage(runtime, { persistent: true }));
    const value = new TextEncoder().encode("v");
    await simulation.complete(store.create("a/1", value));
    disk.full = true;
    const refused = Promise.allSettled([store.create("a/2", value), store.create("a/3", value)]);
    for (const { status, reason } of (await simulation.complete(refused)) as {
      status: string;
      reason?: unknown;
    }[]) {
      assert.equal(status, "rejected");
      assert.match(String(reason), /the disk is full; free space on it/);
    }
    disk.full = false;
    const result = await simulation.complete(store.create("a/4", value));
    assert.deepEqual(result, { outcome: "written", revision: 3 });
    node.crash("power");
    node.restart();
    const reopened = await simulation.complete(open(node, 1_000_000));
    assert.equal(await simulation.complete(stateOf(reopened)), "a/1=76 a/4=76");
  });

  test("a failing disk stops the writes and keeps what was acknowledged", async () => {
    const simulation = new Simulation({ seed: 1 });
    const node = simulation.node({ name: "store", addresses: ["192.0.2.1"] });
    const store = await simulation.complete(open(node, 1_000_000));
    const value = new TextEncoder().encode("v");
    await simulation.complete(store.create("a/1", value));
    node.disk.fail(new Error("input/output error"));
    await assert.rejects(simulation.complete(store.create("a/2", value)), {
      code: "Broken",
      message: /input\/output/,
    });
    node.disk.fail(undefined);
    await assert.rejects(simulation.complete(store.create("a/3", value)), { code: "Broken" });
    assert.equal((await simulation.complete(store.list({ prefix: "" }))).records.length, 1, "reads go on");
    node.crash("power");
    node.restart();
    const reopened = await simulation.complete(open(node, 1_000_000));
    assert.equal((await simulation.complete(reopened.get("a/1")))?.key, "a/1");
  });
});

/** A disk that may be full: half of an append is then written, and its log fails for good. */
class FillingDisk implements Disk {
  readonly #disk: Disk;
  full = false;

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  read(path: string): Promise<Uint8Array | undefined> {
    return this.#disk.read(path);
  }

  replace(path: string, content: Uint8Array): Promise<void> {
    return this.#disk.replace(path, content);
  }

  remove(path: string): Promise<void> {
    return this.#disk.remove(path);
  }

  list(folder: string): Promise<readonly string[]> {
    return this.#disk.list(folder);
  }

  async openLog(path: string): Promise<DiskLog> {
    const log = await this.#disk.openLog(path);
    let failed = false;
    const check = (): void => {
      if (failed) throw new Error("an earlier write failed; open the log again");
    };
    return {
      get sizeBytes() {
        return log.sizeBytes;
      },
      append: async (bytes) => {
        check();
        if (!this.full) return log.append(bytes);
        failed = true;
        await log.append(bytes.subarray(0, bytes.length >>> 1));
        throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
      },
      sync: async () => {
        check();
        await log.sync();
      },
      truncate: async (sizeBytes) => {
        check();
        await log.truncate(sizeBytes);
      },
      close: () => log.close(),
    };
  }
}

/** What is known to have happened, by revision. */
type Truth = Map<number, string>;

async function runSeed(seed: number): Promise<void> {
  const simulation = new Simulation({ seed });
  const random = simulation.random("operations");
  const node = simulation.node({ name: "store", addresses: ["192.0.2.1"] });
  const truth: Truth = new Map();
  let acknowledged = 1;
  let compacted = 1;
  const snapshotAfterBytes = [300, 2_000, 1_000_000][below(random, 3)]!;

  for (let boot = 0; boot < 6; boot++) {
    if (boot > 0) node.restart();
    const store = await simulation.complete(open(node, snapshotAfterBytes));
    assert.ok(
      store.revision() >= acknowledged,
      `revision ${store.revision()} after ${acknowledged} was acknowledged`,
    );
    assert.ok(store.compactedRevision() >= compacted, "a durable compaction holds");
    const events = await simulation.complete(historyOf(store));
    for (const event of events) noteEvent(truth, event);
    for (let i = 0; i < events.length; i++)
      assert.equal(events[i]!.revision, store.compactedRevision() + 1 + i);
    assert.equal(await simulation.complete(stateOf(store)), modelState(truth, store.revision()));
    // What was under way at the crash and did not survive may come again under another content.
    for (const revision of truth.keys()) if (revision > store.revision()) truth.delete(revision);

    const stop = new AbortController();
    const workers = Array.from({ length: 1 + below(random, 6) }, () => {
      return write(store, {
        random,
        signal: stop.signal,
        onAcknowledged(revision, content) {
          note(truth, revision, content);
          acknowledged = Math.max(acknowledged, revision);
        },
        onCompacted: (revision) => (compacted = Math.max(compacted, revision)),
      });
    });
    const watching = watchAll(store, {
      signal: stop.signal,
      onEvent: (event) => {
        noteEvent(truth, event);
        acknowledged = Math.max(acknowledged, event.revision);
      },
    });
    // A rejection that a crash leaves unread is no failure of the test; a wrong answer is.
    const all = Promise.all([...workers, watching]);
    let failure: unknown;
    all.catch((error: unknown) => (failure = error));
    await simulation.run({ untilMs: simulation.nowMs + below(random, 120) });
    if (failure !== undefined) throw failure;
    stop.abort();
    if (below(random, 4) === 0) {
      await simulation.complete(all);
      await simulation.complete(Promise.resolve(store[Symbol.asyncDispose]()));
    }
    node.crash(below(random, 3) === 0 ? "process" : "power");
  }
}

function open(node: SimNode, snapshotAfterBytes: number): Promise<Storage> {
  return openMemoryStorage(node.runtime, { persistent: true, snapshotAfterBytes });
}

interface Writing {
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly onAcknowledged: (revision: Revision, content: string) => void;
  readonly onCompacted: (revision: Revision) => void;
}

async function write(
  store: Storage,
  { random, signal, onAcknowledged, onCompacted }: Writing,
): Promise<void> {
  while (!signal.aborted) {
    const key = `${below(random, 2) === 0 ? "a" : "b"}/${below(random, 6)}`;
    const value = random.bytes(below(random, 60));
    const current = await store.get(key);
    const what = below(random, 20);
    if (what === 0) {
      const target = (store.compactedRevision() + below(random, 30)) as Revision;
      if (target > store.revision()) continue;
      await store.compact(target);
      onCompacted(target);
      continue;
    }
    if (current === undefined) {
      const result = await store.create(key, value);
      if (result.outcome === "written") onAcknowledged(result.revision, `${key}=${hex(value)}`);
    } else if (what < 6) {
      const result = await store.delete(key, current.modRevision);
      if (result.outcome === "written") onAcknowledged(result.revision, `${key} deleted`);
    } else {
      const result = await store.update(key, value, current.modRevision);
      if (result.outcome === "written") onAcknowledged(result.revision, `${key}=${hex(value)}`);
    }
  }
}

async function watchAll(
  store: Storage,
  options: { signal: AbortSignal; onEvent: (event: StorageEvent) => void },
): Promise<void> {
  try {
    for await (const batch of store.watch({ prefix: "", after: store.revision(), signal: options.signal })) {
      for (const event of batch.events) options.onEvent(event);
    }
  } catch (error) {
    if (!(error instanceof StorageError && error.code === "Compacted")) throw error;
  }
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

function noteEvent(truth: Truth, event: StorageEvent): void {
  const content =
    event.type === "put" ? `${event.record.key}=${hex(event.record.value)}` : `${event.key} deleted`;
  note(truth, event.revision, content);
}

function note(truth: Truth, revision: number, content: string): void {
  const known = truth.get(revision);
  if (known !== undefined) assert.equal(content, known, `revision ${revision} changed its content`);
  truth.set(revision, content);
}

function modelState(truth: Truth, revision: number): string {
  const state = new Map<string, string>();
  for (let at = 2; at <= revision; at++) {
    const content = truth.get(at);
    assert.ok(content !== undefined, `revision ${at} was never seen`);
    const key = content.slice(0, 3);
    if (content.endsWith(" deleted")) state.delete(key);
    else state.set(key, content);
  }
  return [...state.values()].toSorted().join(" ");
}

async function stateOf(store: Storage): Promise<string> {
  const list = await store.list({ prefix: "" });
  return list.records
    .map((record) => `${record.key}=${hex(record.value)}`)
    .toSorted()
    .join(" ");
}

function below(random: Random, bound: number): number {
  return random.uint32() % bound;
}

function hex(value: Uint8Array): string {
  return Buffer.from(value).toString("hex");
}
