import assert from "node:assert/strict";
import { describe, it } from "node:test";

import type { ContractSubject } from "./contract-subject.ts";

/** What every source of random numbers keeps. */
export function describeRandom(subject: ContractSubject): void {
  const on = subject.run;

  describe(`the random numbers of ${subject.name}`, () => {
    it("are integers of 32 bits that fill their range", () =>
      on(async ({ client: { random } }) => {
        const quarters = [0, 0, 0, 0];
        for (let i = 0; i < 4_000; i++) {
          const value = random.uint32();
          assert.ok(Number.isInteger(value) && value >= 0 && value <= 0xffffffff, `${value} is not a uint32`);
          (quarters[value >>> 30] as number) += 1;
        }
        for (const count of quarters) assert.ok(count > 800, `an uneven spread: ${quarters.join(", ")}`);
      }));

    it("are fractions from 0 up to 1", () =>
      on(async ({ client: { random } }) => {
        let sum = 0;
        for (let i = 0; i < 4_000; i++) {
          const value = random.float();
          assert.ok(value >= 0 && value < 1, `${value} is outside [0, 1)`);
          sum += value;
        }
        assert.ok(Math.abs(sum / 4_000 - 0.5) < 0.05, `the mean is ${sum / 4_000}`);
      }));

    it("are octets that the caller owns", () =>
      on(async ({ client: { random } }) => {
        const first = random.bytes(32);
        const copy = first.slice();
        const second = random.bytes(32);
        assert.deepEqual(first, copy);
        assert.notDeepEqual(first, second);
        assert.equal(random.bytes(0).length, 0);
      }));

    it("are UUIDs of version 4 that differ", () =>
      on(async ({ client: { random } }) => {
        const uuids = new Set<string>();
        for (let i = 0; i < 1_000; i++) {
          const uuid = random.uuid();
          assert.match(uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
          uuids.add(uuid);
        }
        assert.equal(uuids.size, 1_000);
      }));
  });
}
