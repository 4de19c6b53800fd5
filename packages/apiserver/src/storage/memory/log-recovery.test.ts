import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Simulation } from "@meridian/runtime/sim";
import type { SimNode } from "@meridian/runtime/sim";
import { openMemoryStorage } from "./open-memory-storage.ts";

/** What happens to the files of a store of three writes, and what the next opening says. */
const damages: readonly {
  readonly name: string;
  readonly damage: (files: DamagedFiles) => Promise<void>;
  readonly expect: { readonly records: number } | { readonly error: RegExp };
}[] = [
  { name: "nothing", damage: async () => {}, expect: { records: 3 } },
  {
    name: "a torn tail is cut off",
    damage: (files) => files.change(log1, (bytes) => bytes.subarray(0, bytes.length - 3)),
    expect: { records: 2 },
  },
  {
    name: "a tail of zeros, as some file systems leave, is cut off",
    damage: (files) => files.change(log1, (bytes) => Buffer.concat([bytes, Buffer.alloc(100)])),
    expect: { records: 3 },
  },
  {
    name: "a flipped bit with sound data behind it",
    damage: (files) => files.change(log1, (bytes) => flipped(bytes, 70)),
    expect: {
      error:
        /^cannot read storage\/log-0000000001 at offset \d+: wrong checksum, with sound data behind it; restore/,
    },
  },
  {
    name: "a flipped bit in the header",
    damage: (files) => files.change(log1, (bytes) => flipped(bytes, 20)),
    expect: { error: /log-0000000001 at offset 0: its header/ },
  },
  {
    name: "a missing log",
    damage: (files) => files.remove(log1),
    expect: { error: /log-0000000001 at offset 0: the file is missing/ },
  },
  {
    name: "a missing manifest beside data",
    damage: (files) => files.remove(manifest),
    expect: { error: /manifest\.json at offset 0: it is missing/ },
  },
  {
    name: "a changed manifest",
    damage: (files) => files.change(manifest, (bytes) => flipped(bytes, 5)),
    expect: { error: /manifest\.json at offset 0: it is not what was written/ },
  },
];

const log1 = "storage/log-0000000001";
const manifest = "storage/manifest.json";

describe("log recovery", () => {
  for (const { name, damage, expect } of damages) {
    test(name, async () => {
      const simulation = new Simulation({ seed: 7 });
      const node = simulation.node({ name: "store", addresses: ["192.0.2.1"] });
      await simulation.complete(fill(node));
      await simulation.complete(damage(new DamagedFiles(node)));
      const reopened = simulation.complete(openMemoryStorage(node.runtime, { persistent: true }));
      if ("error" in expect) {
        await assert.rejects(reopened, { code: "Corrupt", message: expect.error });
        return;
      }
      const store = await reopened;
      assert.equal((await simulation.complete(store.list({ prefix: "" }))).records.length, expect.records);
      assert.equal(store.revision(), 1 + expect.records);
      const result = await simulation.complete(store.create("next", new Uint8Array(1)));
      assert.deepEqual(result, { outcome: "written", revision: 2 + expect.records });
    });
  }

  test("a snapshot is checked whole", async () => {
    const simulation = new Simulation({ seed: 7 });
    const node = simulation.node({ name: "store", addresses: ["192.0.2.1"] });
    await simulation.complete(fill(node, { snapshotAfterBytes: 10 }));
    const names = await simulation.complete(node.runtime.disk.list("storage"));
    const snapshot = names.find((name) => name.startsWith("snapshot-"));
    assert.ok(snapshot !== undefined, "a snapshot was written");
    await simulation.complete(
      new DamagedFiles(node).change(`storage/${snapshot}`, (bytes) => flipped(bytes, bytes.length - 4)),
    );
    await assert.rejects(simulation.complete(openMemoryStorage(node.runtime, { persistent: true })), {
      code: "Corrupt",
      message: new RegExp(`storage/${snapshot} at offset \\d+: wrong checksum`),
    });
  });
});

class DamagedFiles {
  readonly #node: SimNode;
  constructor(node: SimNode) {
    this.#node = node;
  }

  async change(path: string, change: (bytes: Buffer) => Uint8Array): Promise<void> {
    const { disk } = this.#node.runtime;
    const bytes = await disk.read(path);
    assert.ok(bytes !== undefined, `${path} exists`);
    await disk.replace(path, change(Buffer.from(bytes)));
  }

  async remove(path: string): Promise<void> {
    await this.#node.runtime.disk.remove(path);
  }
}

async function fill(node: SimNode, options: { snapshotAfterBytes?: number } = {}): Promise<void> {
  const store = await openMemoryStorage(node.runtime, { persistent: true, ...options });
  for (const key of ["a", "b", "c"]) await store.create(key, new TextEncoder().encode(`value of ${key}`));
  await store[Symbol.asyncDispose]();
}

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at]! ^= 0x10;
  return copy;
}
