import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "@meridian/runtime";
import type { Runtime } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { Simulation } from "@meridian/runtime/sim";
import { openLmdbStorage } from "./lmdb/open-lmdb-storage.ts";
import { openMemoryStorage } from "./memory/open-memory-storage.ts";
import type { RetentionPolicy } from "./retention.ts";
import { SteppedClock } from "./stepped-clock.ts";
import { describeStorage } from "./testdata/storage-contract.ts";
import type { StoragePlace, StorageSubject } from "./testdata/storage-place.ts";
import type { Storage } from "./storage.ts";

type Open = (runtime: Runtime, retention: Partial<RetentionPolicy>) => Promise<Storage>;

/** Runs a backend under the simulator: virtual time, simulated disk. */
function simulated(name: string, options: { persistent: boolean; open: Open }): StorageSubject {
  const { persistent, open } = options;
  return {
    name,
    persistent,
    async run(body) {
      const simulation = new Simulation({ seed: 1 });
      const { runtime } = simulation.node({ name: "store", addresses: ["192.0.2.1"] });
      const opened: Storage[] = [];
      const place: StoragePlace = {
        async open(retention = {}) {
          const store = await open(runtime, retention);
          opened.push(store);
          return store;
        },
        async advance(ms) {
          await runtime.clock.sleep(ms + 50);
        },
      };
      await simulation.complete(body(place));
      for (const store of opened) await simulation.complete(Promise.resolve(store[Symbol.asyncDispose]()));
    },
  };
}

/** Runs a backend on the real disk, with a clock that the test moves. */
function real(
  name: string,
  open: (
    runtime: Runtime,
    options: { path: string; retention: Partial<RetentionPolicy> },
  ) => Promise<Storage>,
): StorageSubject {
  return {
    name,
    persistent: true,
    async run(body) {
      const path = await mkdtemp(join(tmpdir(), "meridian-storage-"));
      const clock = new SteppedClock();
      const runtime = { ...nodeRuntime({ dataFolder: path, log: silentLogger }), clock };
      const opened: Storage[] = [];
      try {
        await body({
          async open(retention = {}) {
            const store = await open(runtime, { path, retention });
            opened.push(store);
            return store;
          },
          advance: (ms) => clock.advance(ms),
        });
      } finally {
        for (const store of opened) await store[Symbol.asyncDispose]();
        await rm(path, { recursive: true, force: true });
      }
    },
  };
}

describeStorage(
  simulated("memory, nothing kept", {
    persistent: false,
    open: (runtime, retention) => openMemoryStorage(runtime, { persistent: false, retention }),
  }),
);
describeStorage(
  simulated("memory, log on a simulated disk", {
    persistent: true,
    open: (runtime, retention) => openMemoryStorage(runtime, { persistent: true, retention }),
  }),
);
describeStorage(
  simulated("memory, log on a simulated disk, a snapshot after every few writes", {
    persistent: true,
    open: (runtime, retention) =>
      openMemoryStorage(runtime, { persistent: true, retention, snapshotAfterBytes: 500 }),
  }),
);
describeStorage(
  real("memory, log on the real disk", (runtime, { retention }) => {
    return openMemoryStorage(runtime, { persistent: true, retention, snapshotAfterBytes: 100_000 });
  }),
);
describeStorage(real("lmdb", (runtime, options) => openLmdbStorage(runtime, options)));
