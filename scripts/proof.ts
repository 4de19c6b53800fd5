import { spawn } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { cpus, release } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { proofParts, type ProofPart, type ProofStep } from "./proof-parts.ts";

/**
 * `npm run proof [-- --minutes M] [--only TEXT] [--from N]`: the whole of what CI runs as a cut.
 *
 * Each part goes on until its goal, its first failure, or its share of the minutes; at least one step of it runs. With
 * `--from N` steps count from N, so that another machine proves something else. What was run stands in
 * `bench/results/proof.json`; parts that a run leaves out keep what earlier ones proved.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: "string" },
    only: { type: "string", default: "" },
    from: { type: "string", default: "1" },
  },
});
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const resultFile = path.join(root, "bench/results/proof.json");
const firstStep = Number(values.from);
const minutes = values.minutes === undefined ? Infinity : Number(values.minutes);
/** A step that takes longer hangs. */
const stepMinutesMax = 90;

interface PartResult {
  readonly name: string;
  readonly unit: string;
  readonly goal: number;
  readonly done: number;
  readonly steps: { readonly passed: number; readonly failed: number };
  readonly minutes: number;
  /** What it was run by. */
  readonly command: string;
  /** How to see the first failure again. */
  readonly failure?: string;
}

async function prove(part: ProofPart, endsAtMs: number): Promise<PartResult> {
  const startedMs = performance.now();
  let done = 0;
  let passed = 0;
  let failure: string | undefined;
  for (let number = firstStep; done < part.goal; number++) {
    const step = part.step(number);
    if (await succeeds(step)) {
      passed++;
      done += step.units;
    } else {
      failure = commandText(step);
    }
    const spent = minutesSince(startedMs);
    console.log(`  ${done} of ${part.goal} ${part.unit}, ${spent} min`);
    if (failure !== undefined || performance.now() >= endsAtMs) break;
  }
  const { name, unit, goal } = part;
  const steps = { passed, failed: failure === undefined ? 0 : 1 };
  const result = { name, unit, goal, done, steps, minutes: minutesSince(startedMs), command };
  return failure === undefined ? result : { ...result, failure };
}

/** Runs one step; what a failed one printed is shown, with how to run it again. */
async function succeeds(step: ProofStep): Promise<boolean> {
  const [program = "", ...args] = step.command;
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, ...step.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const keep = (chunk: Buffer): void => void (output = (output + chunk.toString()).slice(-20_000));
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const timeout = setTimeout(() => {
    output += `\nkilled after ${stepMinutesMax} minutes`;
    child.kill("SIGKILL");
  }, stepMinutesMax * 60_000);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  clearTimeout(timeout);
  // A skipped test proves nothing.
  const skipped = /^# skipped [1-9]|^ℹ skipped [1-9]/m.test(output);
  if (code === 0 && !skipped) return true;
  console.log(`${output.trimEnd()}\n${skipped ? "skipped" : "failed"}: ${commandText(step)}`);
  return false;
}

function commandText({ command, env }: ProofStep): string {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return [...variables, "node", ...command.slice(1)].join(" ");
}

const minutesSince = (ms: number): number => Math.round((performance.now() - ms) / 600) / 100;

/** What earlier runs proved of the parts that this one leaves out. */
async function earlierResults(): Promise<readonly PartResult[]> {
  const text = await readFile(resultFile, "utf8").catch(() => undefined);
  return text === undefined ? [] : (JSON.parse(text) as { parts: readonly PartResult[] }).parts;
}

const command = ["npm run proof --", ...process.argv.slice(2)].join(" ");
const parts = proofParts.filter(({ name }) => name.includes(values.only));
const startedMs = performance.now();
const results: PartResult[] = [];
for (const [index, part] of parts.entries()) {
  console.log(part.name);
  const left = minutes * 60_000 - (performance.now() - startedMs);
  results.push(await prove(part, performance.now() + Math.max(0, left) / (parts.length - index)));
}
const machine = {
  cpu: cpus()[0]?.model ?? "unknown",
  cores: cpus().length,
  kernel: release(),
  node: process.version,
};
const earlier = await earlierResults();
const kept = proofParts.flatMap(
  ({ name }) => [...results, ...earlier].find((result) => result.name === name) ?? [],
);
await mkdir(path.dirname(resultFile), { recursive: true });
await writeFile(resultFile, `${JSON.stringify({ machine, parts: kept }, null, 2)}\n`);
const passed = results.reduce((sum, { steps }) => sum + steps.passed, 0);
const failed = results.reduce((sum, { steps }) => sum + steps.failed, 0);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
