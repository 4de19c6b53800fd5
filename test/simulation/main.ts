import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import type { SimLogLine } from "@meridian/runtime/sim";
import { format, resolveConfig } from "prettier";
import { matrixDocument, matrixPath } from "./matrix/matrix-text.ts";
import { runSeed } from "./run-seed.ts";
import { violationText } from "./violation-text.ts";

/**
 * `npm run sim -- --seed N [--verbose]` runs one seed; `npm run sim -- --seeds 100 [--from N]` runs a range;
 * `npm run sim -- --matrix` writes the partition matrix.
 */
const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string" },
    from: { type: "string", default: "1" },
    verbose: { type: "boolean", default: false },
    matrix: { type: "boolean", default: false },
  },
});

if (values.matrix) {
  const options = { ...(await resolveConfig(matrixPath)), parser: "markdown" };
  await writeFile(matrixPath, await format(await matrixDocument(), options));
  console.log(`${matrixPath} is written`);
  process.exit();
}

const first = Number(values.seed ?? values.from);
const count = values.seed === undefined ? Number(values.seeds ?? 100) : 1;
let failed = 0;
const judged = new Map<number, number>();
const startedMs = performance.now();
for (let seed = first; seed < first + count; seed++) {
  const result = await runSeed(seed, values.verbose ? { onLog: printLog, onStep: printStep } : {});
  for (const [invariant, times] of result.judged) judged.set(invariant, (judged.get(invariant) ?? 0) + times);
  if (result.violation !== undefined) {
    failed++;
    console.log(violationText(result));
  } else if (count === 1) {
    console.log(
      `seed ${seed} holds: ${(result.virtualMs / 1000).toFixed(0)} virtual seconds, trace ${result.traceHash}`,
    );
  }
  if (count > 1 && (seed - first + 1) % 10 === 0) {
    const seconds = (performance.now() - startedMs) / 1000;
    const done = seed - first + 1;
    console.log(`${done} of ${count} seeds, ${failed} failed, ${(seconds / done).toFixed(2)} s each`);
  }
}
console.log(
  `judged: ${[...judged].map(([invariant, times]) => `invariant ${invariant} ${times} times`).join(", ")}`,
);
process.exitCode = failed > 0 ? 1 : 0;

function printStep(atMs: number, text: string): void {
  console.log(`${atMs.toFixed(0).padStart(7)} ms ---- ${text}`);
}

function printLog({ timeMs, node, level, message, fields }: SimLogLine): void {
  const text = Object.entries(fields).map(([name, value]) => `${name}=${fieldText(value)}`);
  console.log(`${timeMs.toFixed(0).padStart(7)} ms ${node} ${level} ${message} ${text.join(" ")}`);
}

function fieldText(value: unknown): string {
  return value instanceof Error ? value.message : (JSON.stringify(value) ?? "undefined");
}
