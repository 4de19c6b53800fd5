import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { output } from "../../e2e/harness/command.ts";

// What is measured beside us and is no dependency: installed in exact versions into `.cache`, once.

const cache = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../../.cache");
const ltsVersion = "26.10.0";

/** The program of the current Node LTS; this process has the oldest Node that is supported, as a rule. */
export async function nodeLts(): Promise<string> {
  const folder = path.join(cache, "node-lts");
  const program = path.join(folder, "node_modules/node/bin/node");
  // Its package fetches the program in a script.
  if (!existsSync(program)) await install(folder, [`node@${ltsVersion}`, "--ignore-scripts=false"]);
  return program;
}

/** The entry of `@kubernetes/client-node` in this version. */
export async function clientNode(version: string): Promise<string> {
  const folder = path.join(cache, "client-node", version);
  const entry = path.join(folder, "node_modules/@kubernetes/client-node/dist/index.js");
  if (!existsSync(entry)) await install(folder, [`@kubernetes/client-node@${version}`]);
  return entry;
}

async function install(folder: string, args: readonly string[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  const manifest = path.join(folder, "package.json");
  // Without one of its own npm would take the workspace for the package.
  if (!existsSync(manifest)) await writeFile(manifest, `{ "private": true }\n`);
  console.error(`installing ${args[0]}`);
  await output("npm", ["install", "--silent", "--no-save", "--omit=dev", "--prefix", folder, ...args], {
    timeoutMs: 300_000,
    cwd: folder,
  });
}
