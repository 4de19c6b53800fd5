import { spawn } from "node:child_process";
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

/**
 * Runs the compiled tests: `test.js unit|e2e|simulation|fuzz [FILTER]`. With `--seed N` it goes on with N+1 and so on
 * until something fails, which is for `fuzz`.
 *
 * The files of one package that own no port and no process share one Node process, which is ten times faster than a
 * process each; a file `*.process.test.ts` gets its own. Ends with one line `N passed, N failed`. With CI=true
 * a skipped test counts as failed: what CI cannot show, it has not shown.
 */
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const resultFolder = path.join(root, ".cache/results");
const reporter = path.join(root, "dist/scripts/reporter.js");
const groupMinutesMax = 20;

interface Group {
  readonly name: string;
  readonly files: readonly string[];
}

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

const suites: Record<string, { readonly folders: readonly string[]; readonly parallel: number }> = {
  unit: { folders: ["packages", "scripts", "test/conformance", "bench"], parallel: 2 },
  simulation: { folders: ["test/simulation"], parallel: 2 },
  e2e: { folders: ["e2e"], parallel: 2 },
  fuzz: { folders: ["test/fuzz"], parallel: 2 },
};

async function compiledTests(folder: string): Promise<string[]> {
  const parts =
    folder === "packages"
      ? (await readdir(path.join(root, "packages"))).map((name) => `packages/${name}/dist`)
      : [`dist/${folder}`];
  const found: string[] = [];
  for (const part of parts) {
    const entries = await readdir(path.join(root, part), { recursive: true }).catch(() => []);
    for (const entry of entries) if (entry.endsWith(".test.js")) found.push(path.join(part, entry));
  }
  return found.toSorted();
}

/** A compiled test whose source is gone would go on passing for ever. */
async function removeStale(files: readonly string[]): Promise<string[]> {
  const kept: string[] = [];
  for (const file of files) {
    const source = file
      .replace(/^packages\/([^/]+)\/dist\//, "packages/$1/src/")
      .replace(/^dist\//, "")
      .replace(/\.js$/, ".ts");
    if (
      await readFile(path.join(root, source)).then(
        () => true,
        () => false,
      )
    )
      kept.push(file);
    else await rm(path.join(root, file));
  }
  return kept;
}

function grouped(files: readonly string[]): Group[] {
  const shared = new Map<string, string[]>();
  const alone: Group[] = [];
  for (const file of files) {
    if (file.endsWith(".process.test.js") || file.startsWith("dist/e2e/")) {
      alone.push({ name: file.replace(/(^|\/)dist\//, "$1").replace(/\.js$/, ""), files: [file] });
      continue;
    }
    const home = file.startsWith("dist/")
      ? path.dirname(file.slice("dist/".length))
      : path.dirname(file).split("/dist")[0]!;
    shared.set(home, [...(shared.get(home) ?? []), file]);
  }
  return [...[...shared].map(([name, members]) => ({ name, files: members })), ...alone];
}

async function run(group: Group, index: number): Promise<Counts> {
  const countsFile = path.join(resultFolder, `counts-${process.pid}-${index}.json`);
  const imports = group.files.map((file) => `import ${JSON.stringify(path.join(root, file))};`).join("\n");
  const entry = path.join(resultFolder, `entry-${process.pid}-${index}.mjs`);
  await writeFile(entry, imports);
  const child = spawn(
    process.execPath,
    [
      "--enable-source-maps",
      `--test-reporter=${reporter}`,
      "--test-reporter-destination=stdout",
      group.files.length === 1 ? path.join(root, group.files[0]!) : entry,
    ],
    {
      cwd: root,
      env: { ...process.env, TEST_COUNTS_FILE: countsFile, TEST_GROUP: group.name },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const startedMs = Date.now();
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
    // At once, since a failed test may leave something open that keeps its process from ending.
    for (const line of chunk.toString().match(/^FAILED .*$/gm) ?? []) console.log(`${group.name}: ${line}`);
  });
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const timeout = setTimeout(() => {
    output += `\n${group.name}: killed after ${groupMinutesMax} minutes: a test hangs, or a handle stayed open\n`;
    child.kill("SIGKILL");
  }, groupMinutesMax * 60_000);
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  clearTimeout(timeout);
  const counts = await readFile(countsFile, "utf8").then(
    (text) => JSON.parse(text) as Counts,
    () => ({ passed: 0, failed: 0, skipped: 0 }),
  );
  const failed = counts.failed === 0 && code !== 0 ? 1 : counts.failed;
  const ran = counts.passed + failed + counts.skipped;
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : "";
  const seconds = ((Date.now() - startedMs) / 1000).toFixed(1);
  console.log(
    `${failed > 0 || ran === 0 ? "FAILED" : "ok"}  ${group.name}: ${counts.passed} passed, ${failed} failed${skipped} (${seconds} s)`,
  );
  if (failed > 0 || counts.skipped > 0 || process.env["TEST_VERBOSE"] !== undefined)
    console.log(output.trimEnd());
  else if (/MEASURED/.test(output))
    console.log(
      output
        .split("\n")
        .filter((line) => line.includes("MEASURED"))
        .join("\n"),
    );
  await rm(entry, { force: true });
  await rm(countsFile, { force: true });
  return { ...counts, failed };
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { seed: { type: "string" } },
  });
  const [suiteName = "unit", filter = ""] = positionals;
  if (values.seed === undefined) return runSuite(suiteName, filter);
  for (let seed = Number(values.seed); process.exitCode === undefined || process.exitCode === 0; seed++) {
    console.log(`seed ${seed}`);
    process.env["MERIDIAN_FUZZ_SEED"] = String(seed);
    await runSuite(suiteName, filter);
  }
}

async function runSuite(suiteName: string, filter: string): Promise<void> {
  const suite = suites[suiteName];
  if (suite === undefined) {
    console.error(`there is no suite "${suiteName}": choose one of ${Object.keys(suites).join(", ")}`);
    process.exitCode = 2;
    return;
  }
  await mkdir(resultFolder, { recursive: true });
  const files = (await Promise.all(suite.folders.map(compiledTests))).flat();
  const groups = grouped((await removeStale(files)).filter((file) => file.includes(filter)));
  const total = { passed: 0, failed: 0, skipped: 0 };
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < groups.length; index = next++) {
      const counts = await run(groups[index]!, index);
      total.passed += counts.passed;
      total.failed += counts.failed;
      total.skipped += counts.skipped;
    }
  };
  await Promise.all(Array.from({ length: suite.parallel }, worker));
  if (process.env["CI"] === "true") total.failed += total.skipped;
  await writeFile(path.join(resultFolder, `${suiteName}.json`), JSON.stringify(total));
  const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : "";
  console.log(`\n${suiteName}: ${total.passed} passed, ${total.failed} failed${skipped}`);
  process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;
}

await main();
