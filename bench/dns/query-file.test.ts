import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { writeBenchZone } from "./bench-zone.ts";
import { writeQueryFile } from "./query-file.ts";

let folder = "";
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "meridian-bench-test-"));
});
after(() => rm(folder, { recursive: true }));

async function queries(name: string, seed: number, mix: "hit" | "mixed" = "mixed"): Promise<string[]> {
  const file = path.join(folder, name);
  await writeQueryFile(file, { mix, hosts: 50, queries: 2000, seed });
  return (await readFile(file, "utf8")).trimEnd().split("\n");
}

test("one seed writes one query file, another seed another", async () => {
  const first = await queries("first", 7);
  assert.deepEqual(await queries("again", 7), first);
  assert.notDeepEqual(await queries("other", 8), first);
});

test("each twenty lines of the mixed file have its shares, so that a short run asks what a long one asks", async () => {
  const lines = await queries("mixed", 1);
  assert.equal(lines.length, 2000);
  const shares: readonly (readonly [RegExp, number])[] = [
    [/^host\d+\.cloud\.example\.com A$/, 12],
    [/^nx\d+\.cloud\.example\.com A$/, 3],
    [/^host\d+\.cloud\.example\.com AAAA$/, 2],
    [/^alias\d+\.cloud\.example\.com A$/, 1],
    [/^w\d+\.wild\.cloud\.example\.com A$/, 1],
    [/^r\d+\.child\.cloud\.example\.com A$/, 1],
  ];
  for (let begin = 0; begin < lines.length; begin += 20) {
    const block = lines.slice(begin, begin + 20);
    for (const [pattern, count] of shares) {
      assert.equal(
        block.filter((line) => pattern.test(line)).length,
        count,
        `${pattern} from line ${begin + 1}`,
      );
    }
  }
});

test("a query file asks for hosts and aliases that the zone has", async () => {
  const zone = path.join(folder, "zone");
  await writeBenchZone(zone, 50);
  const owners = new Set((await readFile(zone, "utf8")).split("\n").map((line) => line.split(" ")[0]!));
  for (const line of await queries("asked", 3)) {
    const name = line.split(".")[0]!;
    if (/^(host|alias)/.test(name)) assert.ok(owners.has(name), line);
  }
});
