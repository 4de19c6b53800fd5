import assert from "node:assert/strict";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { parseTsigKeyFile } from "@meridian/dns";
import { silentLogger } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { preparePeerKey } from "./peer-key.ts";

const root = await mkdtemp(join(tmpdir(), "meridian-peer-key-"));
after(() => rm(root, { recursive: true, force: true }));
const { random } = nodeRuntime({ dataFolder: root, log: silentLogger });
const path = join(root, "peers.key");

test("a key is made once, for its owner alone, and made anew where it is gone", async () => {
  const made = await preparePeerKey(random, root);
  const [key] = parseTsigKeyFile(made);
  assert.deepEqual([key?.name, key?.algorithm, key?.secret.length], ["meridian-peers", "hmac-sha256", 32]);
  assert.equal((await stat(path)).mode & 0o077, 0);
  assert.equal(await preparePeerKey(random, root), made);
  await rm(path);
  assert.notEqual(await preparePeerKey(random, root), made);
});

test("a file without that key is named with what to do, and without a word of it", async () => {
  const other = 'key "other" { algorithm hmac-sha256; secret "c2VjcmV0c2VjcmV0c2VjcmV0"; };';
  for (const text of ["not { a key", other]) {
    await writeFile(path, text);
    await assert.rejects(preparePeerKey(random, root), {
      code: "BadFile",
      message: `${path} holds no TSIG key meridian-peers; restore it, or remove it to have a new one made`,
    });
  }
});
