import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const folder = path.join(root, ".cache/readme-examples");

test("every TypeScript block of a README or of docs compiles as a reader would paste it", () => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const readmes = [
    ...readdirSync(path.join(root, "packages")).map((name) => `packages/${name}/README.md`),
    ...readdirSync(path.join(root, "docs")).flatMap((name) => (name.endsWith(".md") ? [`docs/${name}`] : [])),
  ];
  let blocks = 0;
  for (const readme of readmes) {
    // Blocks of one page may import each other by the names that it gives them.
    const pageFolder = path.join(folder, readme.replaceAll("/", "-").replace(/\.md$/, ""));
    mkdirSync(pageFolder);
    const text = readFileSync(path.join(root, readme), "utf8");
    for (const [index, match] of [
      ...text.matchAll(/(?:^`(?:src\/)?([a-z-]+(?:\.test)?\.ts)`:\n\n)?^```ts\n([\s\S]*?)^```/gm),
    ].entries()) {
      // A block that goes on with names of the text before it says so by having no import.
      const [, fileName = `block-${index}.ts`, code = ""] = match;
      if (!code.includes("import ")) continue;
      writeFileSync(path.join(pageFolder, fileName), `${code}export {};\n`);
      blocks += 1;
    }
  }
  assert.ok(blocks > 0, "no example was found");
  const tsconfig = {
    extends: "../../tsconfig.base.json",
    compilerOptions: {
      composite: false,
      declarationMap: false,
      isolatedDeclarations: false,
      noEmit: true,
      noUnusedLocals: false,
      types: ["node"],
    },
    include: ["*/*.ts"],
  };
  writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify(tsconfig));
  const compiler = path.join(root, "node_modules/typescript/bin/tsc");
  const result = spawnSync(process.execPath, [compiler, "-p", folder], { encoding: "utf8" });
  assert.equal(result.stdout, "");
  assert.equal(result.status, 0, result.stderr);
});
