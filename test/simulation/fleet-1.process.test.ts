import assert from "node:assert/strict";
import { test } from "node:test";
import { runSeed } from "./run-seed.ts";
import { testSeeds } from "./seed-blocks.ts";

test("the same seed is the same run to the octet, and another seed is another one", async () => {
  const [first, again, other] = [await runSeed(201), await runSeed(201), await runSeed(202)];
  assert.equal(again.traceHash, first.traceHash);
  assert.equal(again.steps, first.steps);
  assert.notEqual(other.traceHash, first.traceHash);
});

testSeeds(1, 25);
