import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { installed, output } from "./harness/command.ts";
import { Terminal } from "./harness/terminal.ts";
import { shownPattern, tutorialSteps } from "./harness/tutorial-steps.ts";
import type { TutorialStep } from "./harness/tutorial-steps.ts";

// docs/your-first-controller.md, done as a reader does it: each file written, each command run, all that it shows compared.

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const inCi = process.env["CI"] === "true";
/** The project that the tutorial makes beside the clone. */
const project = "greeter";
const needed = ["kubectl", "curl", "bash"];
const missing: string[] = [];
for (const command of needed) if (!(await installed(command))) missing.push(command);

test(
  "a reader gets from an empty folder to a running controller by the tutorial alone",
  { skip: missing.length > 0 && `not installed: ${missing.join(", ")}`, timeout: 900_000 },
  async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "first-controller-"));
    try {
      await makeClone(path.join(folder, "meridian"));
      await follow(
        tutorialSteps(await readFile(path.join(root, "docs/your-first-controller.md"), "utf8")),
        folder,
      );
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
);

test("shown output matches with its gaps only", () => {
  const pattern = shownPattern("a … c\n…\nend");
  assert.match("a b c\nx\ny\nend\n", pattern);
  assert.match("a b c  \nend\n", pattern);
  assert.doesNotMatch("a b\nend\n", pattern);
  assert.doesNotMatch("a b c\nend of it\n", pattern);
});

/** In CI what a clone has, and nothing that was built; elsewhere the packages of this checkout, which are built already. */
async function makeClone(clone: string): Promise<void> {
  await mkdir(clone);
  if (!inCi) return symlink(path.join(root, "packages"), path.join(clone, "packages"));
  const files = await output("git", [
    "-C",
    root,
    "ls-files",
    "-z",
    "--cached",
    "--others",
    "--exclude-standard",
  ]);
  for (const file of files.split("\0").filter((each) => each !== "" && existsSync(path.join(root, each))))
    await cp(path.join(root, file), path.join(clone, file), { verbatimSymlinks: true });
}

async function follow(steps: readonly TutorialStep[], folder: string): Promise<void> {
  const environment = readerEnvironment();
  const clone = path.join(folder, "meridian");
  const projectFolder = path.join(folder, project);
  await using terminals = new Terminals({ cwd: clone, projectFolder, environment });
  let runs = 0;
  for (const step of steps) {
    if (step.do === "write") {
      await mkdir(path.dirname(path.join(projectFolder, step.file)), { recursive: true });
      await writeFile(path.join(projectFolder, step.file), step.text);
    } else if (step.do === "run" && step.terminal === undefined) {
      runs += 1;
      if (!inCi && /^npm (ci|run build)$/.test(step.command)) continue;
      const said = await terminals.first.run(step.command);
      if (step.shown !== "") {
        const whole = new RegExp(`${shownPattern(step.shown).source}$(?![\\s\\S])`);
        assert.match(said, whole, step.command);
      }
    } else {
      await terminals.doIn(step);
    }
  }
  assert.ok(runs > 20, `only ${runs} commands were found`);
}

/** Without what this test, its runner and npm have put there. */
function readerEnvironment(): NodeJS.ProcessEnv {
  const own = /^(KUBECONFIG|NODE_TEST_CONTEXT|NODE_OPTIONS|CI|TEST_\w+|npm_(?!config_registry)\w+|INIT_CWD)$/;
  const kept = Object.entries(process.env).filter(([name]) => !own.test(name));
  return { ...Object.fromEntries(kept), npm_config_prefer_offline: "true" };
}

/** The terminals that the reader has open. */
class Terminals implements AsyncDisposable {
  readonly first: Terminal;
  readonly #options: { readonly projectFolder: string; readonly environment: NodeJS.ProcessEnv };
  readonly #others = new Map<string, Terminal>();

  constructor(options: {
    readonly cwd: string;
    readonly projectFolder: string;
    readonly environment: NodeJS.ProcessEnv;
  }) {
    this.#options = options;
    this.first = new Terminal({ folder: options.cwd, environment: options.environment });
  }

  async doIn(step: Exclude<TutorialStep, { readonly do: "write" }>): Promise<void> {
    const { terminal: name = "", command, shown } = step;
    const { projectFolder, environment } = this.#options;
    if (step.do === "run")
      this.#others.set(name, new Terminal({ folder: projectFolder, environment, command }));
    const terminal = this.#others.get(name);
    assert.ok(terminal !== undefined, `nothing runs in terminal ${name}`);
    if (step.do === "interrupt") {
      assert.equal(await terminal.interrupt(), 0, terminal.said);
      this.#others.delete(name);
    }
    if (shown !== "") await terminal.read(shownPattern(shown));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const terminal of [...this.#others.values(), this.first]) await terminal[Symbol.asyncDispose]();
  }
}
