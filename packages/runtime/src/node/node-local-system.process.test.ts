import assert from "node:assert/strict";
import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { inspect } from "node:util";

import { nodeLocalSystem } from "./node-local-system.ts";

const folder = await mkdtemp(join(tmpdir(), "meridian-system-"));
after(() => rm(folder, { recursive: true, force: true }));
const system = nodeLocalSystem({ HOME: "/home/ada" });
const environment = { PATH: process.env["PATH"] ?? "" };
const command = (script: string, more: object = {}): Parameters<typeof system.runCommand>[0] => ({
  file: "sh",
  args: ["-c", script],
  environment,
  timeoutMs: 20_000,
  ...more,
});

describe("this machine", () => {
  it("replaces a file as a whole, behind a link, with its mode", async () => {
    const file = join(folder, "config");
    const link = join(folder, "link");
    await writeFile(file, "old");
    await chmod(file, 0o600);
    await symlink(file, link);
    await system.replaceFile(link, new TextEncoder().encode("new"));
    assert.equal(await readFile(file, "utf8"), "new");
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.deepEqual((await readdir(folder)).sort(), ["config", "link"]);
    await assert.rejects(system.replaceFile(join(folder, "none"), new Uint8Array()), { code: "ENOENT" });
  });

  it("makes a file for one of those who want to", async () => {
    const lock = join(folder, "lock");
    const made = await Promise.all(Array.from({ length: 5 }, () => system.createFile(lock)));
    assert.equal(made.filter(Boolean).length, 1);
    await system.removeFile(lock);
    await system.removeFile(lock);
    assert.equal(await system.createFile(lock), true);
  });

  it("runs a command with this environment and no other, and hands over what it says", async () => {
    const result = await system.runCommand(
      command('echo "$A-$HOME"; echo oops >&2; exit 3', { environment: { ...environment, A: "a b" } }),
    );
    assert.deepEqual(result, { exitCode: 3, stdout: "a b-\n", stderr: "oops\n" });
  });

  it("does not wait for what a command leaves behind with its output open, and has all that the command said", async () => {
    const written = "x".repeat(400_000);
    for (const exitCode of [0, 3]) {
      const script = `sleep 600 & echo $!; head -c ${written.length} /dev/zero | tr '\\0' x; exit ${exitCode}`;
      const result = await system.runCommand(command(script));
      const [pid = "", said] = result.stdout.split("\n");
      process.kill(Number(pid), "SIGKILL");
      assert.deepEqual([result.exitCode, said === written], [exitCode, true]);
    }
  });

  it("says that there is no such command", async () => {
    await assert.rejects(system.runCommand({ ...command(""), file: join(folder, "none") }), {
      code: "ENOENT",
    });
  });

  it("kills a command that takes too long, or that nobody waits for any more", async () => {
    await assert.rejects(
      system.runCommand(command("exec sleep 600", { timeoutMs: 50 })),
      /did not end within 50 ms/,
    );
    const reason = new Error("enough");
    const stop = new AbortController();
    const running = system.runCommand(command("exec sleep 600", { signal: stop.signal }));
    stop.abort(reason);
    await assert.rejects(running, reason);
  });

  it("kills a command that says too much", async () => {
    await assert.rejects(system.runCommand(command("exec yes")), /maxBuffer/);
  });

  it("keeps arguments, and what a command printed, out of its errors", async () => {
    const scripts: Readonly<Record<string, readonly [words: RegExp, timeoutMs: number]>> = {
      "kill -9 $$": [/sh was ended by SIGKILL/, 20_000],
      "exec sleep 600": [/did not end within 300 ms/, 300],
      "exec yes": [/maxBuffer/, 20_000],
    };
    for (const [script, [words, timeoutMs]] of Object.entries(scripts)) {
      const hidden = command(`echo s3cret; echo s3cret >&2; : s3cret; ${script}`, { timeoutMs });
      await assert.rejects(system.runCommand(hidden), (error: Error) => {
        assert.match(error.message, words);
        assert.doesNotMatch(inspect(error, { depth: null, showHidden: true }), /s3cret/);
        return true;
      });
    }
    const absent = { ...command(""), file: join(folder, "none"), args: ["s3cret"] };
    await assert.rejects(system.runCommand(absent), (error: Error) => {
      assert.doesNotMatch(inspect(error, { depth: null, showHidden: true }), /s3cret/);
      return true;
    });
  });
});
