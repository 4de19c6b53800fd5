import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { buildPage } from "./build-page.ts";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const site = path.join(root, "packages/console/dist/site");
const script = path.join(root, "dist/scripts/build-page.js");

/** All files of a folder with their content. */
async function contentOf(folder: string): Promise<Readonly<Record<string, string>>> {
  const content: Record<string, string> = {};
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((each) => each.isFile())) {
    const file = path.join(entry.parentPath, entry.name);
    content[path.relative(folder, file)] = await readFile(file, "utf8");
  }
  return content;
}

test("the page is built from the same sources to the same octets, and a second time not at all", async () => {
  await promisify(execFile)(process.execPath, [script]);
  const before = await stat(path.join(site, "index.html"));
  await promisify(execFile)(process.execPath, [script]);
  const after = await stat(path.join(site, "index.html"));
  assert.equal(after.mtimeMs, before.mtimeMs, "it was built before");

  const folder = await mkdtemp(path.join(tmpdir(), "meridian-page-"));
  try {
    await buildPage(folder);
    assert.deepEqual(await contentOf(folder), await contentOf(site));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("the built page asks nobody but its own server, and asks for no evaluation of text", async () => {
  for (const [file, text] of Object.entries(await contentOf(site))) {
    const withoutNames = text
      // Names of namespaces and of React's page of error codes: never asked for.
      .replaceAll(/https?:\/\/www\.w3\.org\/[\w/]+/g, "")
      .replaceAll(/https:\/\/react\.dev\/errors\//g, "");
    assert.doesNotMatch(withoutNames, /https?:\/\//, file);
    assert.doesNotMatch(text, /\beval\(|new Function\(/, file);
  }
});
