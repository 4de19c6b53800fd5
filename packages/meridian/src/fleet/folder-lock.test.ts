import assert from "node:assert/strict";
import { chmod, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { FolderLock, lockHolder } from "./folder-lock.ts";

const root = await mkdtemp(join(tmpdir(), "meridian-lock-"));
after(() => rm(root, { recursive: true, force: true }));

test("a held folder refuses a second holder, names the first, and is free after the release", async () => {
  const folder = join(root, "held", "deep");
  const lock = await FolderLock.acquire(folder, "meridian up");
  assert.equal((await lockHolder(folder))?.pid, process.pid);
  await assert.rejects(FolderLock.acquire(folder, "meridian up"), (error: Error & { code?: string }) => {
    assert.equal(error.code, "FolderLocked");
    assert.match(error.message, new RegExp(`process ${process.pid} \\(meridian up\\); stop it with`));
    return true;
  });
  await lock[Symbol.asyncDispose]();
  assert.deepEqual(await readdir(folder), []);
  await (await FolderLock.acquire(folder, "meridian up"))[Symbol.asyncDispose]();
});

const stale = [
  { name: "of a process that is gone", content: JSON.stringify({ pid: 2 ** 22 + 1, command: "x" }) },
  {
    name: "of an earlier process with our id",
    content: JSON.stringify({ pid: process.pid, startTime: "1", command: "x" }),
    linuxOnly: true,
  },
  { name: "that holds nonsense", content: "{" },
  { name: "that is empty", content: "" },
];

for (const { name, content, linuxOnly } of stale) {
  test(
    `a lock ${name} is taken over`,
    { skip: linuxOnly === true && process.platform !== "linux" },
    async () => {
      const folder = await mkdtemp(join(root, "stale-"));
      await writeFile(join(folder, "lock"), content);
      assert.equal(await lockHolder(folder), undefined);
      const lock = await FolderLock.acquire(folder, "meridian up");
      assert.equal((await lockHolder(folder))?.pid, process.pid);
      await lock[Symbol.asyncDispose]();
      assert.deepEqual(await readdir(folder), []);
    },
  );
}

test("of many who start at once one gets the folder", async () => {
  const folder = join(root, "many");
  const attempts = await Promise.allSettled(
    [1, 2, 3, 4, 5].map(() => FolderLock.acquire(folder, "meridian up")),
  );
  assert.equal(attempts.filter((attempt) => attempt.status === "fulfilled").length, 1);
});

test("a folder that cannot be written to is named with its reason", async () => {
  const file = join(root, "file");
  await writeFile(file, "");
  await chmod(file, 0o600);
  await assert.rejects(
    FolderLock.acquire(join(file, "data"), "meridian up"),
    /cannot write to the data folder .*ENOTDIR/,
  );
});
