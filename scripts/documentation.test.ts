import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const read = (file: string): string => readFileSync(path.join(root, file), "utf8");
const tracked = (...patterns: string[]): string[] =>
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", ...patterns], {
    cwd: root,
    encoding: "utf8",
  })
    .split("\n")
    .filter((file) => file !== "" && existsSync(path.join(root, file)));

/** The page without its blocks of code. */
const prose = (markdown: string): string => markdown.replaceAll(/^```[\s\S]*?^```$/gm, "");

/** The anchors of a page, as GitHub makes them of its headings. */
const anchorsOf = (markdown: string): Set<string> =>
  new Set(
    [...prose(markdown).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\- ]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );

test("each link of a page leads to a file of this repository, and to a heading that it has", () => {
  const wrong: string[] = [];
  for (const page of tracked("*.md")) {
    for (const [, target = ""] of prose(read(page)).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      const [file = "", anchor] = target.split("#");
      const linked = file === "" ? page : path.posix.join(path.posix.dirname(page), file);
      if (!existsSync(path.join(root, linked))) wrong.push(`${page}: there is no ${linked}`);
      else if (anchor !== undefined && linked.endsWith(".md") && !anchorsOf(read(linked)).has(anchor))
        wrong.push(`${page}: ${linked} has no heading for #${anchor}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test("what docs/from-client-go.md says is here is there", () => {
  const sources = tracked(
    "packages/controller/src/*.ts",
    "packages/kube/src/*.ts",
    "packages/runtime/src/*.ts",
  )
    .filter((file) => !file.endsWith(".test.ts"))
    .map(read)
    .join("\n");
  const words = new Set(sources.match(/\w+/g));
  const wrong: string[] = [];
  let rows = 0;
  for (const line of read("docs/from-client-go.md").split("\n")) {
    const [, here = ""] = line.split(" | ");
    if (here === "" || /^-+$/.test(here)) continue;
    rows += 1;
    for (const [, code = ""] of here.matchAll(/`([^`]+)`/g)) {
      if (code.includes("/") || code.startsWith("npx ")) continue;
      for (const word of code.match(/[A-Za-z]\w+/g) ?? []) {
        if (!["return", "true", "namespace", "name"].includes(word) && !words.has(word))
          wrong.push(`${word} (in ${here.trim()})`);
      }
    }
  }
  assert.ok(rows > 60, `only ${rows} rows were found`);
  assert.deepEqual(wrong, []);
});
