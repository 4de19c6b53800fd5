import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, test } from "node:test";
import { keptInputs, writeInputs } from "./corpus.ts";
import { fuzzerCommand, fuzzTargets, root, runFuzzer } from "./fuzzer.ts";

// Coverage-guided fuzzing: the fuzzer keeps each input that reaches new code. Inputs worth keeping for good are in
// `test/fuzz/corpus`; what a run finds new stays in `.cache/corpus`, and a crash is a file there, too.

const secondsEach = Number(process.env["MERIDIAN_FUZZ_GUIDED_SECONDS"] ?? 2);
const command = fuzzerCommand();
const skip =
  command === undefined && process.env["CI"] === undefined
    ? "the fuzzer does not load: it needs a C library of 2.38 or newer (.ci/run has one)"
    : false;

describe("what strangers can send, guided by coverage", { concurrency: 2 }, () => {
  for (const target of Object.keys(fuzzTargets)) {
    test(`${target}: nothing falls over in ${secondsEach} s`, { skip }, async (t) => {
      assert.ok(command !== undefined, "the fuzzer does not load; .ci/run has the C library for it");
      const found = path.join(root, ".cache/corpus", target);
      const kept = await mkdtemp(path.join(tmpdir(), `meridian-corpus-${target}-`));
      t.after(() => rm(kept, { recursive: true, force: true }));
      await mkdir(found, { recursive: true });
      const inputs = await keptInputs(target);
      await writeInputs(kept, inputs);
      const { output, code } = await runFuzzer(command, target, {
        folders: [found, kept],
        options: [`-max_total_time=${secondsEach}`, `-artifact_prefix=${found}-`],
      });
      const runs = Number(/Done (\d+) runs/.exec(output)?.[1] ?? 0);
      assert.equal(code, 0, `something fell over after ${runs} runs:\n${output.slice(-4_000)}`);
      assert.ok(runs >= inputs.length, `only ${runs} runs:\n${output.slice(-4_000)}`);
      t.diagnostic(`${runs} runs, ${inputs.length} inputs kept, ${/cov: \d+/.exec(output)?.[0] ?? ""}`);
    });
  }
});
