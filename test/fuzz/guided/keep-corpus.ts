import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { keepInputs, keptInputs } from "./corpus.ts";
import { fuzzerCommand, fuzzTargets, root, runFuzzer } from "./fuzzer.ts";

// Keeps what runs of the fuzzer have found in `.cache/corpus`: of those inputs and the ones kept so far, the shortest that
// reach all the code that they reach together. `node dist/test/fuzz/guided/keep-corpus.js [TARGET...]`

/** For each target: CI runs them all. */
const inputsMax = 300;
const command = fuzzerCommand();
if (command === undefined) throw new Error("the fuzzer does not load; .ci/run has the C library for it");
const asked = process.argv.slice(2);
for (const target of asked.length > 0 ? asked : Object.keys(fuzzTargets)) {
  const found = path.join(root, ".cache/corpus", target);
  await mkdir(found, { recursive: true });
  const names = await readdir(found);
  const inputs = await Promise.all(names.map((name) => readFile(path.join(found, name))));
  inputs.push(...(await keptInputs(target).catch(() => [])).map((input) => Buffer.from(input)));
  const chosen = await chooseInputs(
    target,
    inputs.toSorted((a, b) => a.length - b.length),
  );
  await keepInputs(target, chosen);
  console.log(`${target}: ${chosen.length} of ${inputs.length} inputs`);
}

/** Those that reach something which none before them does. */
async function chooseInputs(target: string, inputs: readonly Buffer[]): Promise<readonly Buffer[]> {
  const folder = await mkdtemp(path.join(tmpdir(), `meridian-corpus-${target}-`));
  const files = inputs.map((_, index) => path.join(folder, String(index)));
  for (const [index, file] of files.entries()) await writeFile(file, inputs[index]!);
  // The fuzzer's own merge starts itself anew, which it cannot within Node; this is the step that it would start.
  const control = path.join(folder, "control");
  await writeFile(control, [inputs.length, 0, ...files, ""].join("\n"));
  const options = ["-merge_inner=1", `-merge_control_file=${control}`];
  const { output } = await runFuzzer(command!, target, { folders: [], options });
  const told = await readFile(control, "utf8");
  await rm(folder, { recursive: true });
  if (!told.includes(`STARTED ${inputs.length - 1} `))
    throw new Error(`not all inputs ran:\n${output.slice(-4_000)}`);
  // A line for each input: `FT`, its number, and what it reaches first.
  const telling = [...told.matchAll(/^FT (\d+) \d/gm)].map(([, index]) => inputs[Number(index)]!);
  return telling.slice(0, inputsMax);
}
