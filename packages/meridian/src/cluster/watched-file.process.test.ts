import assert from "node:assert/strict";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { watchedFile } from "./watched-file.ts";

test("a stamp is another after each change, and none where there is no file", async () => {
  const folder = await mkdtemp(join(tmpdir(), "meridian-watched-"));
  try {
    const file = watchedFile(join(folder, "geo.yaml"));
    assert.equal(await file.stamp(), undefined);
    await writeFile(file.path, "one");
    const first = await file.stamp();
    assert.equal(await file.stamp(), first);
    // Of the same size and moved into place, as a mounted volume changes.
    await writeFile(join(folder, "next"), "two");
    await rename(join(folder, "next"), file.path);
    assert.notEqual(await file.stamp(), first);
    assert.equal(new TextDecoder().decode(await file.read()), "two");
    await rm(file.path);
    assert.equal(await file.stamp(), undefined);
  } finally {
    await rm(folder, { recursive: true });
  }
});
