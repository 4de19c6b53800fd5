import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";

import { toBytes, toText } from "../contracts/contract-subject.ts";
import { NodeDisk } from "./node-disk.ts";

const noFullDevice = existsSync("/dev/full") ? false : "there is no /dev/full on this system";

describe("the disk of this machine", () => {
  it("hides what an interrupted replacement has left behind, and writes over it", () =>
    inFolder(async (folder) => {
      const disk = new NodeDisk(folder);
      await disk.replace("state", toBytes("old"));
      await writeFile(join(folder, "state.unfinished"), "ne");
      assert.deepEqual(await disk.list(""), ["state"]);
      assert.equal(toText((await disk.read("state")) ?? toBytes("")), "old");
      await disk.replace("state", toBytes("new"));
      assert.deepEqual(await readdir(folder), ["state"]);
    }));

  it("creates its root and all folders as they are needed", () =>
    inFolder(async (folder) => {
      const disk = new NodeDisk(join(folder, "not", "there", "yet"));
      assert.deepEqual(await disk.list(""), []);
      await disk.replace("a/b/c", toBytes("deep"));
      assert.deepEqual(await readdir(join(folder, "not/there/yet/a/b")), ["c"]);
    }));

  it("lets many appends share one sync", () =>
    inFolder(async (folder) => {
      const disk = new NodeDisk(folder);
      const log = await disk.openLog("log");
      const writes = Array.from({ length: 50 }, async (_, i) => {
        await log.append(toBytes(`${i} `));
        await log.sync();
      });
      await Promise.all(writes);
      const text = toText((await disk.read("log")) ?? toBytes(""));
      assert.equal(text, Array.from({ length: 50 }, (_, i) => `${i} `).join(""));
      await log.close();
    }));

  for (const durableAppends of [false, true]) {
    const what = durableAppends ? "a log with durable appends" : "a log";
    it(`writes no more to ${what} after one write has failed`, { skip: noFullDevice }, () =>
      inFolder(async (folder) => {
        await symlink("/dev/full", join(folder, "log"));
        const log = await new NodeDisk(folder).openLog("log", { durableAppends });
        await assert.rejects(log.append(toBytes("x")), { code: "ENOSPC" });
        await assert.rejects(log.append(toBytes("x")), /an earlier write failed/);
        await assert.rejects(log.sync(), /an earlier write failed/);
        await log.close();
      }),
    );
  }
});

async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "meridian-disk-"));
  try {
    await body(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
