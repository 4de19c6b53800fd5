import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { dnsSamples } from "../dns-samples.ts";
import { handWritten } from "../../conformance/differential-zones.ts";

// Coverage-guided fuzzing: the fuzzer keeps each input that reaches new code. Inputs worth keeping for good are in
// `test/fuzz/corpus`; what a run finds new stays in `.cache/corpus`, and a crash is a file there, too.

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const secondsEach = Number(process.env["MERIDIAN_FUZZ_GUIDED_SECONDS"] ?? 15);
const fuzzer = path.join(root, "node_modules/@jazzer.js/core/dist/cli.js");

/** How the fuzzer is started: with this Node, where need be over the C library that `.ci/run` unpacks for it. */
function fuzzerCommand(): readonly string[] | undefined {
  const load = ["-e", "require('@jazzer.js/fuzzer')"];
  const libraries = path.join(root, ".cache/fuzzer-libc/usr/lib/x86_64-linux-gnu");
  const commands = [
    [process.execPath],
    [path.join(libraries, "ld-linux-x86-64.so.2"), "--library-path", libraries, process.execPath],
  ];
  return commands.find(
    ([program = "", ...args]) =>
      existsSync(program) && spawnSync(program, [...args, ...load], { cwd: root }).status === 0,
  );
}

const command = fuzzerCommand();
const skip =
  command === undefined ? "the fuzzer does not load: it needs a C library of 2.38 or newer (.ci/run has one)" : false;

const seeds: Record<string, readonly Uint8Array[]> = {
  answer: dnsSamples.flatMap((sample) => [Uint8Array.of(0, ...sample), Uint8Array.of(1, ...sample)]),
  message: dnsSamples,
  "zone-file": handWritten.text
    .split("\n")
    .map((line) => new TextEncoder().encode(`@ SOA a b 1 2 3 4 5\n@ NS a\n${line}\n`)),
};

for (const [target, samples] of Object.entries(seeds)) {
  test(`${target}: nothing falls over in ${secondsEach} s`, { skip }, async (t) => {
    const found = path.join(root, ".cache/corpus", target);
    const kept = path.join(root, "test/fuzz/corpus", target);
    const given = await mkdtemp(path.join(tmpdir(), `meridian-corpus-${target}-`));
    t.after(() => rm(given, { recursive: true, force: true }));
    await mkdir(found, { recursive: true });
    await mkdir(kept, { recursive: true });
    for (const [index, sample] of samples.entries()) await writeFile(path.join(given, String(index)), sample);
    const [program = "", ...args] = command!;
    const output = await outputOf(program, [
      ...args,
      fuzzer,
      path.join(root, `dist/test/fuzz/guided/${target}-target.js`),
      found,
      kept,
      given,
      `--includes=${path.join(root, "packages/dns/dist")}`,
      "--sync",
      "--",
      `-max_total_time=${secondsEach}`,
      "-max_len=2048",
      `-artifact_prefix=${found}-`,
    ]);
    const runs = Number(/Done (\d+) runs/.exec(output)?.[1] ?? 0);
    assert.ok(runs > 1_000, `the fuzzer stopped after ${runs} runs:\n${output.slice(-4_000)}`);
    t.diagnostic(`${runs} runs, ${(await readdir(kept)).length} inputs kept, ${/cov: \d+/.exec(output)?.[0] ?? ""}`);
  });
}

async function outputOf(program: string, args: readonly string[]): Promise<string> {
  const child = spawn(program, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-100_000);
    });
  }
  await new Promise<void>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => resolve());
  });
  return output;
}
