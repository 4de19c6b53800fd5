import assert from "node:assert/strict";
import test from "node:test";
import { isYamlDeeperThan } from "./yaml-depth.ts";

const deep: readonly { readonly name: string; readonly text: string }[] = [
  { name: "flow sequences", text: "[".repeat(100_000) },
  { name: "flow mappings", text: `${'{"a":'.repeat(1_000)}1${"}".repeat(1_000)}` },
  { name: "sequences on one line", text: `${"- ".repeat(1_000)}x` },
  { name: "explicit keys on one line", text: `${"? ".repeat(1_000)}x` },
  { name: "sequence indicators inside a flow sequence", text: `[${"- ".repeat(1_000)}x]` },
  {
    name: "mappings line by line",
    text: Array.from({ length: 1_000 }, (_, level) => `${" ".repeat(level)}a:\n`).join(""),
  },
  {
    name: "mappings and sequences at the same column",
    text: Array.from(
      { length: 200 },
      (_, level) => `${" ".repeat(2 * level)}a:\n${" ".repeat(2 * level)}-\n`,
    ).join(""),
  },
];

for (const { name, text } of deep) {
  test(`deep ${name} are too deep`, () => {
    assert.equal(isYamlDeeperThan(text, 250), true);
  });
}

const shallow: readonly { readonly name: string; readonly text: string }[] = [
  { name: "a long list", text: "- a: 1\n  b: [1, 2]\n".repeat(10_000) },
  { name: "a long flow list", text: `[${"{a: 1}, ".repeat(10_000)}]` },
  { name: "a block scalar of brackets", text: `data:\n  a: |\n${`    ${"[".repeat(1_000)}\n`.repeat(10)}` },
  {
    name: "brackets and indicators in quotes",
    text: `a: "${"[- ".repeat(1_000)}"\nb: '${"{? ".repeat(1_000)}'`,
  },
  {
    name: "a deep indentation in a block scalar",
    text: `a: |\n${" ".repeat(1_000)}x\n${" ".repeat(1_001)}y\n`,
  },
  { name: "many comments", text: "# [ [ - - -\n".repeat(1_000) },
];

for (const { name, text } of shallow) {
  test(`${name} is not deep`, () => {
    assert.equal(isYamlDeeperThan(text, 30), false);
  });
}
