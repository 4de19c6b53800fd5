import assert from "node:assert/strict";
import { test } from "node:test";
import { Warnings } from "./warnings.ts";

test("warnings are quoted, each sent once, and safe in a header", () => {
  const warnings = new Warnings();
  assert.equal(warnings.header(), undefined);
  warnings.add('say "no" to \\');
  warnings.add('say "no" to \\');
  warnings.add("line\nbreak ü");
  assert.equal(warnings.header(), '299 - "say \\"no\\" to \\\\", 299 - "line break ?"');
});

test("warnings beyond the limit are cut", () => {
  const warnings = new Warnings();
  for (let index = 0; index < 40; index++) warnings.add(`${index} ${"x".repeat(500)}`);
  const header = warnings.header() ?? "";
  assert.ok(header.length < 4_096 + 40 * 12, `${header.length}`);
  assert.match(header, /^299 - "0 x{254}", /);
});
