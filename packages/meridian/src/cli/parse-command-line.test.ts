import assert from "node:assert/strict";
import { test } from "node:test";
import type { Command } from "./command.ts";
import { parseCommandLine } from "./parse-command-line.ts";

const commands: readonly Command[] = [
  {
    words: ["up"],
    positionals: [],
    summary: "start a fleet",
    details: [],
    options: [
      { name: "port", value: "P", help: "the port" },
      { name: "ephemeral", help: "keep nothing" },
    ],
    run: async () => 0,
  },
  {
    words: ["demo", "failover"],
    positionals: ["HOST"],
    summary: "show it",
    details: ["More."],
    options: [],
    run: async () => 0,
  },
  {
    words: ["cluster"],
    positionals: [],
    summary: "",
    details: [],
    options: [],
    internal: true,
    run: async () => 0,
  },
];

const mistakes: readonly { readonly argv: string; readonly says: RegExp }[] = [
  { argv: "upp", says: /no command "upp"; there are: up, demo failover$/ },
  { argv: "demo", says: /no command "demo"; there is: demo failover$/ },
  { argv: "demo fallover", says: /no command "demo fallover"; there is: demo failover$/ },
  { argv: "up --prot 3", says: /meridian up has no option --prot; it has: --help, --port, --ephemeral/ },
  { argv: "up --port", says: /--port.*argument missing/ },
  { argv: "up --ephemeral=3", says: /--ephemeral.*does not take an argument/ },
  { argv: "up here", says: /does not know what to do with "here"/ },
  { argv: "demo failover", says: /needs HOST/ },
];

for (const { argv, says } of mistakes) {
  test(`"meridian ${argv}" is a mistake that says what exists`, () => {
    const line = parseCommandLine(argv.split(" "), commands);
    assert.equal(line.kind, "mistake");
    assert.match(line.kind === "mistake" ? line.message : "", says);
  });
}

test("options are collected, and the last one of a name stands last", () => {
  const line = parseCommandLine(["up", "--port", "1", "--ephemeral", "--port=2"], commands);
  assert(line.kind === "run");
  assert.deepEqual(line.invocation.text.get("port"), ["1", "2"]);
  assert(line.invocation.switches.has("ephemeral"));
});

for (const argv of [[], ["--help"], ["-h"], ["help"]]) {
  test(`"meridian ${argv.join(" ")}" lists the commands, without the internal ones`, () => {
    const line = parseCommandLine(argv, commands);
    assert(line.kind === "help");
    assert.match(line.text, /demo failover HOST {2}show it/);
    assert.doesNotMatch(line.text, /cluster/);
  });
}

for (const argv of ["demo --help", "demo -h", "help demo"]) {
  test(`"meridian ${argv}" lists the commands that begin so`, () => {
    const line = parseCommandLine(argv.split(" "), commands);
    assert(line.kind === "help");
    assert.match(line.text, /demo failover HOST {2}show it/);
    assert.doesNotMatch(line.text, /start a fleet/);
  });
}

for (const argv of ["demo failover --help", "demo failover -h", "help demo failover"]) {
  test(`"meridian ${argv}" explains the one command`, () => {
    const line = parseCommandLine(argv.split(" "), commands);
    assert(line.kind === "help");
    assert.match(line.text, /Usage: meridian demo failover HOST \[OPTIONS\]\n\nMore\./);
  });
}
