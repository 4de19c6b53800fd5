import assert from "node:assert/strict";
import { test } from "node:test";
import { runSeed } from "./run-seed.ts";
import { violationText } from "./violation-text.ts";

const blockSize = 5;
/** A checker that judges less often than this per seed has lost its eyes. */
const judgedPerSeedMin = 20;

/** Declares the tests over a range of seeds, so that two processes can share the work. */
export function testSeeds(first: number, count: number): void {
  const judged = new Map<number, number>();
  for (let start = first; start < first + count; start += blockSize) {
    test(`the fleet keeps all eight invariants under the seeds ${start} to ${start + blockSize - 1}`, async () => {
      for (let seed = start; seed < start + blockSize; seed++) {
        const result = await runSeed(seed);
        assert.equal(violationText(result), "");
        for (const [invariant, times] of result.judged)
          judged.set(invariant, (judged.get(invariant) ?? 0) + times);
      }
    });
  }
  test(`under these seeds each of the eight checkers had much to judge`, () => {
    assert.deepEqual([...judged.keys()], [1, 2, 3, 4, 5, 6, 7, 8]);
    for (const [invariant, times] of judged)
      assert(times > judgedPerSeedMin * count, `invariant ${invariant} was judged only ${times} times`);
  });
}
