import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { toBytes, toText } from "../contracts/contract-subject.ts";
import type { Disk } from "../disk.ts";
import type { CrashKind, SimNode } from "./sim-node.ts";
import { Simulation } from "./simulation.ts";

describe("a simulated disk in a crash", () => {
  it("keeps what was synced, and what was replaced", async () => {
    for (let seed = 0; seed < 50; seed++) {
      const text = await afterCrash(seed, async (disk) => {
        const log = await disk.openLog("log");
        await log.append(toBytes("one "));
        await log.append(toBytes("two"));
        await log.sync();
        await disk.replace("state", toBytes("new"));
      });
      assert.equal(text.log, "one two");
      assert.equal(text.state, "new");
    }
  });

  it("loses, tears or keeps each append that was not synced", async () => {
    const outcomes = new Set<string>();
    for (let seed = 0; seed < 400; seed++) {
      const { log } = await afterCrash(seed, async (disk) => {
        const opened = await disk.openLog("log");
        await opened.append(toBytes("A"));
        await opened.sync();
        await opened.append(toBytes("bb"));
        await opened.append(toBytes("cc"));
      });
      outcomes.add((log ?? "absent").replaceAll("\0", "."));
    }
    const kept = ["A", "Ab", "Abb", "Abbc", "Abbcc"];
    const holes = ["A..c", "A..cc", "Ab.c", "Ab.cc"];
    assert.deepEqual([...outcomes].sort(), [...holes, ...kept].sort());
  });

  it("has done or not done what was under way", async () => {
    const outcomes = new Set<string>();
    for (let seed = 0; seed < 100; seed++) {
      const { state, log } = await afterCrash(seed, async (disk) => {
        const opened = await disk.openLog("log");
        await opened.append(toBytes("unsynced"));
        await disk.replace("state", toBytes("old"));
        void disk.replace("state", toBytes("new"));
        void opened.sync();
      });
      outcomes.add(`${state} ${log === "unsynced" ? "whole" : "less"}`);
    }
    assert.deepEqual([...outcomes].sort(), ["new less", "new whole", "old less", "old whole"]);
  });

  it("loses nothing that was written when only the process ends", async () => {
    for (let seed = 0; seed < 20; seed++) {
      const unsynced = async (disk: Disk): Promise<void> => {
        const log = await disk.openLog("log");
        await log.append(toBytes("not synced"));
      };
      assert.equal((await afterCrash(seed, unsynced, "process")).log, "not synced");
    }
  });

  it("may be told to fail", async () => {
    const simulation = new Simulation({ seed: 1 });
    const node = simulation.node({ name: "a", addresses: ["10.0.0.1"] });
    const { disk } = node.runtime;
    await simulation.complete(disk.replace("file", toBytes("x")));
    node.disk.fail(new Error("no space left on device"));
    await assert.rejects(simulation.complete(disk.replace("file", toBytes("y"))), /no space/);
    node.disk.fail(undefined);
    assert.equal(toText((await simulation.complete(disk.read("file"))) ?? toBytes("")), "x");
  });
});

interface Survivors {
  readonly log: string | undefined;
  readonly state: string | undefined;
}

async function afterCrash(
  seed: number,
  work: (disk: Disk) => Promise<void>,
  kind: CrashKind = "power",
): Promise<Survivors> {
  const simulation = new Simulation({ seed });
  const node = simulation.node({ name: "a", addresses: ["10.0.0.1"] });
  await simulation.complete(work(node.runtime.disk));
  node.crash(kind);
  node.restart();
  return simulation.complete(readBoth(node));
}

async function readBoth(node: SimNode): Promise<Survivors> {
  const { disk } = node.runtime;
  const [log, state] = [await disk.read("log"), await disk.read("state")];
  return { log: log && toText(log), state: state && toText(state) };
}
