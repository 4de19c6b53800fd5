import { createHash } from "node:crypto";
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Builds the console's page with Vite into `packages/console/dist/site`, unless what stands there was built from the
 * same files. The same files give the same octets.
 */
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const source = path.join(root, "packages/console/src");
const site = path.join(root, "packages/console/dist/site");
/** Says from what, and to what, the site was built. */
const stampFile = path.join(root, "packages/console/dist/site.sha256");

/** Builds the page into a folder, which is emptied before. */
export async function buildPage(outDir: string): Promise<void> {
  // Loading Vite takes longer than finding out that there is nothing to build.
  const { build } = await import("vite");
  await build({
    configFile: false,
    root: path.join(source, "page"),
    base: "./",
    mode: "production",
    logLevel: "warn",
    envDir: false,
    build: {
      outDir,
      emptyOutDir: true,
      target: "es2022",
      // The policy of the page allows nothing that stands in the document itself.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
    },
  });
}

/** One digest over names and contents; `missing` where the folder is not there. */
async function digestOf(folder: string, fits: (file: string) => boolean = () => true): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return "missing";
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .filter(fits)
    .toSorted();
  const digest = createHash("sha256");
  for (const file of files) {
    const content = await readFile(path.join(folder, file));
    digest.update(`${file}\0${content.length}\0`).update(content);
  }
  return digest.digest("hex");
}

async function stamp(): Promise<string> {
  const builder = createHash("sha256")
    .update(await readFile(fileURLToPath(import.meta.url)))
    .update(await readFile(path.join(root, "package-lock.json")))
    .digest("hex");
  const inputs = await digestOf(source, (file) => !file.endsWith(".test.ts"));
  return `${builder} ${inputs} ${await digestOf(site)}\n`;
}

async function main(): Promise<void> {
  const before = await stamp();
  if (before === (await readFile(stampFile, "utf8").catch(() => ""))) return;
  await buildPage(site);
  await mkdir(path.dirname(stampFile), { recursive: true });
  await writeFile(stampFile, await stamp());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
