import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const read = (file: string): string => readFileSync(path.join(root, file), "utf8");
const packages = readdirSync(path.join(root, "packages"));

/** Everything that is, or is about to be, under version control. */
const tracked = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\n")
  .filter((file) => file !== "" && existsSync(path.join(root, file)));
const sources = tracked.filter((file) => /\.tsx?$/.test(file));

/** What each package may import: lower levels only (ARCHITECTURE.md, "The map"). */
const levels: Record<string, readonly string[]> = {
  runtime: [],
  kube: [],
  dns: ["runtime"],
  apiserver: ["kube", "runtime"],
  controller: ["kube", "runtime"],
  gslb: ["controller", "dns", "kube", "runtime"],
  console: ["controller", "kube", "runtime"],
  meridian: ["console", "gslb", "apiserver", "controller", "dns", "kube", "runtime"],
};

const importsOf = (file: string): string[] =>
  [
    ...read(file).matchAll(
      /^\s*(?:(?:import|export)\b[^;"'`]*?\bfrom|import)\s+"([^"]+)"|\bimport\("([^"]+)"\)/gm,
    ),
  ].map((match) => (match[1] ?? match[2])!);

test("each package imports only packages of a lower level, and declares them", () => {
  const wrong: string[] = [];
  for (const name of packages) {
    const allowed = levels[name];
    assert.ok(allowed !== undefined, `packages/${name} is not in the table of levels`);
    const manifest = JSON.parse(read(`packages/${name}/package.json`)) as Record<
      string,
      Record<string, string> | undefined
    >;
    const declared = new Set([
      ...Object.keys(manifest["dependencies"] ?? {}),
      ...Object.keys(manifest["devDependencies"] ?? {}),
    ]);
    for (const file of sources.filter((source) => source.startsWith(`packages/${name}/`))) {
      const isTest = file.endsWith(".test.ts") || file.includes("/contracts/");
      for (const target of importsOf(file)) {
        if (target.startsWith("node:") || target.startsWith(".")) continue;
        const bare = target.startsWith("@") ? target.split("/").slice(0, 2).join("/") : target.split("/")[0]!;
        if (isTest && bare === "fast-check") continue;
        if (!declared.has(bare))
          wrong.push(`${file} imports ${bare}, which packages/${name}/package.json does not declare`);
        const own = /^@meridian\/(.+)$/.exec(bare)?.[1];
        if (own !== undefined && !allowed.includes(own))
          wrong.push(`${file} imports @meridian/${own}, a level too high`);
      }
    }
  }
  assert.deepEqual(wrong, []);
});

/** The folders of packages/dns: each imports only those before it (packages/dns/README.md, "The parts"). */
const dnsFolders = [
  ...["name", "message", "geo", "zone", "tsig", "client", "dnssec"],
  ...["server", "transfer", "update", "workers"],
];

test("each folder of the DNS package imports only folders before it, in the order of the README", () => {
  const folderOf = (file: string): string | undefined => /^packages\/dns\/src\/([^/]+)\//.exec(file)?.[1];
  const rankOf = (file: string): number => dnsFolders.indexOf(folderOf(file) ?? "");
  const wrong: string[] = [];
  for (const file of sources) {
    const folder = folderOf(file);
    if (folder === undefined || folder === "testdata" || file.endsWith(".test.ts")) continue;
    if (!dnsFolders.includes(folder)) wrong.push(`${file} is in a folder that has no place in the order`);
    for (const target of importsOf(file).filter((each) => each.startsWith("."))) {
      const imported = path.posix.join(path.posix.dirname(file), target);
      if (rankOf(imported) > rankOf(file)) wrong.push(`${file} imports ${imported}`);
    }
  }
  assert.deepEqual(wrong, []);
  const inOrder = dnsFolders.map((folder) => `\`${folder}\``).join(", ");
  assert.ok(read("packages/dns/README.md").replaceAll("\n", " ").includes(inOrder), inOrder);
});

test("the console's page imports no server code: only itself, React, and what both halves agree on", () => {
  const agreed = ["packages/console/src/lab-state.ts", "packages/console/src/lab-commands.ts"];
  const page = "packages/console/src/page/";
  const wrong: string[] = [];
  for (const file of sources.filter((source) => source.startsWith("packages/console/src/"))) {
    const inPage = file.startsWith(page);
    if (!inPage && !agreed.includes(file)) continue;
    for (const target of importsOf(file)) {
      const imported = target.startsWith(".")
        ? path.posix.join(path.posix.dirname(file), target)
        : target.split("/")[0]!;
      const fits =
        agreed.includes(imported) ||
        (inPage && (imported.startsWith(page) || imported === "react" || imported === "react-dom")) ||
        (inPage && file.endsWith(".test.ts") && imported.startsWith("node:"));
      if (!fits) wrong.push(`${file} imports ${target}`);
    }
  }
  const server = sources.filter(
    (file) =>
      file.startsWith("packages/console/src/") &&
      !file.startsWith(page) &&
      importsOf(file).some((target) => /^\.\.?\/(?:.*\/)?page\//.test(target)),
  );
  assert.deepEqual([...wrong, ...server], []);
});

test("only the edge imports the real runtime: the command, and the threads that answer DNS", () => {
  const wrong = sources.filter(
    (file) =>
      /^packages\/(?!runtime\/|meridian\/|dns\/src\/workers\/)/.test(file) &&
      !/\.test\.ts$|\/testdata\//.test(file) &&
      importsOf(file).some((target) => target === "@meridian/runtime/node"),
  );
  assert.deepEqual(wrong, []);
});

test("files are kebab-case and named for a thing", () => {
  const banned =
    /(^|\/)(utils?|helpers?|common|types|misc|shared|models?|services|interfaces|managers?)(\.ts|\/)/;
  const wrong = sources.filter((file) => !/^[a-z0-9./-]+$/.test(file) || banned.test(file));
  assert.deepEqual(wrong, []);
});

test("no source holds leftovers", () => {
  const leftovers = new RegExp(
    ["TO" + "DO", "FIX" + "ME", "XX" + "X", "@ts-" + "ignore", "console\\.debug"]
      .map((w) => `\\b${w}\\b`)
      .join("|"),
  );
  const wrong = sources.filter((file) => leftovers.test(read(file)));
  assert.deepEqual(wrong, []);
});

test("no test is focused", () => {
  const wrong = sources.filter(
    (file) => file.endsWith(".test.ts") && /\b(?:test|it|describe)\.only\b|\{ *only: *true/.test(read(file)),
  );
  assert.deepEqual(wrong, []);
});

test("a lint suppression gives its reason", () => {
  const wrong: string[] = [];
  for (const file of sources) {
    for (const line of read(file).split("\n")) {
      if (/^\s*\/\/ oxlint-disable/.test(line) && !/ -- .{10,}/.test(line))
        wrong.push(`${file}: ${line.trim()}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test("each package has a README with what it is, an example, guarantees, limits and non-goals", () => {
  const wrong: string[] = [];
  for (const name of packages) {
    const file = `packages/${name}/README.md`;
    const text = existsSync(path.join(root, file)) ? read(file) : "";
    for (const heading of ["Example", "Guarantees", "Limits", "Non-goals"]) {
      if (!new RegExp(`^## ${heading}`, "mi").test(text)) wrong.push(`${file} has no section "${heading}"`);
    }
  }
  assert.deepEqual(wrong, []);
});

test("each error code of a package stands in its README", () => {
  const wrong: string[] = [];
  for (const file of sources.filter((source) => /^packages\/[^/]+\/src\//.test(source))) {
    const name = file.split("/")[1]!;
    for (const match of read(file).matchAll(/export type \w*ErrorCode =([^;]+);/g)) {
      const readme = existsSync(path.join(root, `packages/${name}/README.md`))
        ? read(`packages/${name}/README.md`)
        : "";
      for (const code of match[1]!.matchAll(/"([A-Za-z]+)"/g)) {
        if (!readme.includes(`\`${code[1]}\``))
          wrong.push(`${name}: \`${code[1]}\` is not in packages/${name}/README.md`);
      }
    }
  }
  assert.deepEqual(wrong, []);
});

test("each dependency is explained in docs/dependencies.md, with an exact version", () => {
  const page = read("docs/dependencies.md");
  const wrong: string[] = [];
  const manifests = packages.map((name) => `packages/${name}/package.json`);
  for (const manifestFile of ["package.json", "scripts/api-reference/package.json", ...manifests]) {
    const manifest = JSON.parse(read(manifestFile)) as Record<string, Record<string, string> | undefined>;
    for (const [name, version] of Object.entries({
      ...manifest["dependencies"],
      ...manifest["devDependencies"],
    })) {
      if (name.startsWith("@meridian/")) continue;
      if (!/^\d/.test(version)) wrong.push(`${manifestFile}: ${name} ${version} is not an exact version`);
      if (!page.includes(`\`${name}\``)) wrong.push(`${name} is not in docs/dependencies.md`);
    }
  }
  assert.deepEqual(wrong, []);
});

test("the lockfile names no registry host", () => {
  assert.doesNotMatch(read("package-lock.json"), /"resolved": "http/);
});
