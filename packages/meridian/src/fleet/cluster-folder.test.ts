import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { silentLogger } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { prepareAuthority, prepareClusterFolder, type PreparedFolder } from "./cluster-folder.ts";

const root = await mkdtemp(join(tmpdir(), "meridian-folder-"));
after(() => rm(root, { recursive: true, force: true }));
const runtime = nodeRuntime({ dataFolder: root, log: silentLogger });
const authority = await prepareAuthority(runtime, root);

function prepare(name: string): Promise<PreparedFolder> {
  const wanted = { name, address: "127.0.10.1", server: "https://127.0.10.1:6443", authority };
  return prepareClusterFolder(runtime, join(root, name), wanted);
}

test("a token is kept, and made anew where it is gone", async () => {
  const { token } = await prepare("kept");
  assert.equal((await prepare("kept")).token, token);
  await writeFile(join(root, "kept", "token"), "\n");
  assert.notEqual((await prepare("kept")).token, token);
});

test("damaged certificates are replaced", async () => {
  const before = await prepare("damaged");
  await writeFile(join(root, "damaged", "tls.crt"), "not { a certificate");
  const after = await prepare("damaged");
  assert.notEqual(after.server.certificatePem, before.server.certificatePem);
  assert.equal(await readFile(join(root, "damaged", "tls.crt"), "utf8"), after.server.certificatePem);
});

test("what is no token, and no file, is named with what to do", async () => {
  await mkdir(join(root, "odd"));
  await writeFile(join(root, "odd", "token"), "not { a token");
  await assert.rejects(prepare("odd"), {
    code: "BadFile",
    message: `${join(root, "odd", "token")} holds no bearer token; restore it, or remove it to have a new one made`,
  });
  await rm(join(root, "odd", "token"));
  await mkdir(join(root, "odd", "token"));
  await assert.rejects(prepare("odd"), { code: "BadFile", message: /cannot read .*token \(EISDIR\)/ });
  await rm(join(root, "odd", "token"), { recursive: true });
  await mkdir(join(root, "odd", "kubeconfig"));
  await assert.rejects(prepare("odd"), {
    code: "FolderUnusable",
    message: /cannot write .*kubeconfig \(EISDIR\)/,
  });
});
