import assert from "node:assert/strict";
import { describe, it } from "node:test";

import type { ContractSubject } from "./contract-subject.ts";
import { Moment } from "./contract-subject.ts";

/** What every clock keeps. */
export function describeClock(subject: ContractSubject): void {
  const on = subject.run;

  describe(`the clock of ${subject.name}`, () => {
    // Waits of nearly one length end in any order on a machine that has no time for them.
    it("ends a short wait before a long one", () =>
      on(async ({ client: { clock } }) => {
        const abort = new AbortController();
        const waits = [1_000_000, 5, 2_000_000].map((ms) => clock.sleep(ms, abort.signal).then(() => ms));
        assert.equal(await Promise.race(waits), 5);
        abort.abort(new Error("long enough"));
        await Promise.allSettled(waits);
      }));

    it("never ends a wait before its time, as its own measure has it", () =>
      on(async ({ client: { clock } }) => {
        const early: number[] = [];
        const wait = async (ms: number): Promise<void> => {
          const dueMs = clock.monotonicMs() + ms;
          await clock.sleep(ms);
          if (clock.monotonicMs() < dueMs) early.push(ms);
        };
        await Promise.all(Array.from({ length: 100 }, (_, index) => wait(1 + index * 0.37)));
        assert.deepEqual(early, []);
      }));

    it("takes a wait of nothing, of less than nothing and of no number as a short one", () =>
      on(async ({ client: { clock } }) => {
        await clock.sleep(0);
        await clock.sleep(-1);
        await clock.sleep(Number.NaN);
      }));

    it("rejects a wait whose signal has aborted already", () =>
      on(async ({ client: { clock } }) => {
        const reason = new Error("no need");
        await assert.rejects(clock.sleep(1_000_000, AbortSignal.abort(reason)), reason);
      }));

    it("ends a wait with the signal's reason as soon as it aborts", () =>
      on(async ({ client: { clock } }) => {
        const abort = new AbortController();
        const reason = new Error("changed my mind");
        clock.after(5, () => abort.abort(reason));
        await assert.rejects(clock.sleep(1_000_000, abort.signal), reason);
      }));

    it("leaves a wait alone that had ended before its signal aborted", () =>
      on(async ({ client: { clock } }) => {
        const abort = new AbortController();
        const wait = clock.sleep(1, abort.signal);
        await wait;
        abort.abort();
        await wait;
      }));

    it("calls back once, and not when cancelled", () =>
      on(async ({ client: { clock } }) => {
        const calls: string[] = [];
        const kept = new Moment();
        const cancelLate = clock.after(2, () => {
          calls.push("kept");
          kept.now();
        });
        const cancel = clock.after(1, () => calls.push("cancelled"));
        cancel();
        cancel();
        await kept.come;
        cancelLate();
        await clock.sleep(5);
        assert.deepEqual(calls, ["kept"]);
      }));

    it("never calls back after an infinite time", () =>
      on(async ({ client: { clock } }) => {
        let called = false;
        const cancel = clock.after(Infinity, () => (called = true));
        await clock.sleep(5);
        cancel();
        assert.equal(called, false);
      }));
  });
}
