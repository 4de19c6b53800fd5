import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** The repository. */
export const root: string = fileURLToPath(new URL("../../../..", import.meta.url));
const fuzzer = path.join(root, "node_modules/@jazzer.js/core/dist/cli.js");

/** How the fuzzer is started: with this Node, where need be over the C library that `.ci/run` unpacks for it. */
export function fuzzerCommand(): readonly string[] | undefined {
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

/** What is fuzzed: `fuzz` of `NAME-target.ts`, which returns a promise where it is `async`. */
export const fuzzTargets: Readonly<Record<string, "sync" | "async">> = {
  answer: "sync",
  client: "async",
  doh: "async",
  geo: "async",
  message: "sync",
  proxy: "sync",
  request: "async",
  signed: "sync",
  stream: "sync",
  transfer: "async",
  "zone-file": "sync",
};

/** Runs a target over folders of inputs, new inputs going to the first; what the fuzzer printed, and its exit code. */
export async function runFuzzer(
  command: readonly string[],
  target: string,
  { folders, options }: { readonly folders: readonly string[]; readonly options: readonly string[] },
): Promise<{ readonly output: string; readonly code: number | null }> {
  const [program = "", ...args] = command;
  const how = [
    path.join(root, `dist/test/fuzz/guided/${target}-target.js`),
    ...folders,
    `--includes=${path.join(root, "packages/dns/dist")}`,
    ...(fuzzTargets[target] === "sync" ? ["--sync"] : []),
    "--",
    "-max_len=2048",
    // An input that takes longer makes a server spin.
    "-timeout=10",
    ...options,
  ];
  const child = spawn(program, [...args, fuzzer, ...how], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-100_000);
    });
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return { output, code };
}
