import assert from "node:assert/strict";
import { test } from "node:test";
import { plantedFaults } from "./planted-faults.ts";
import { runSeed } from "./run-seed.ts";

const seedsMax = 100;

for (const { name, invariant, plant } of plantedFaults) {
  test(`invariant ${invariant} finds it when ${name}`, async () => {
    for (let seed = 1; seed <= seedsMax; seed++) {
      const { violation } = await runSeed(seed, { plant, only: invariant });
      if (violation === undefined) continue;
      assert.equal(violation.invariant, invariant);
      console.log(`MEASURED found by seed ${seed}: ${violation.seen}`);
      return;
    }
    assert.fail(`no seed up to ${seedsMax} finds it: the checker of invariant ${invariant} is blind`);
  });
}
