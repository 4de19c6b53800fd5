import assert from "node:assert/strict";
import { test } from "node:test";
import { plantedFaults } from "./planted-faults.ts";
import { runSeed } from "./run-seed.ts";

const seedsMax = 100;

const allSeeds = Array.from({ length: seedsMax }, (_, index) => index + 1);

for (const { name, invariant, plant, settings, seed: known } of plantedFaults) {
  test(`invariant ${invariant} finds it when ${name}`, async () => {
    const seeds = known === undefined ? allSeeds : [known, ...allSeeds];
    for (const seed of seeds) {
      const { violation } = await runSeed(seed, {
        ...{ plant, only: invariant },
        ...(settings === undefined ? {} : { settings }),
      });
      if (violation === undefined) continue;
      assert.equal(violation.invariant, invariant);
      console.log(`MEASURED found by seed ${seed}: ${violation.seen}`);
      return;
    }
    assert.fail(`no seed up to ${seedsMax} finds it: the checker of invariant ${invariant} is blind`);
  });
}
