import assert from "node:assert/strict";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { makePrivateFolder } from "./make-folder.ts";

test("a private folder is made with its parents, refused below a file, and never tried for ever", async () => {
  const root = await mkdtemp(join(tmpdir(), "meridian-folder-"));
  try {
    await makePrivateFolder(join(root, "a/b"));
    await makePrivateFolder(join(root, "a/b"));
    assert.equal((await stat(join(root, "a/b"))).mode & 0o777, 0o700);
    await writeFile(join(root, "file"), "");
    await assert.rejects(makePrivateFolder(join(root, "file")), { code: "EEXIST" });
    await assert.rejects(makePrivateFolder(join(root, "file/below")), { code: "ENOTDIR" });
    if (process.platform === "linux")
      await assert.rejects(makePrivateFolder("/proc/1/x"), { code: "ENOENT" });
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});
