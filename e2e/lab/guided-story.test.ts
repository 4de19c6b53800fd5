import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { Locator } from "playwright-core";
import { browserAbsence } from "../harness/browser.ts";
import { eventually } from "../harness/eventually.ts";
import { labInBrowser } from "./lab-in-browser.ts";
import { LabVisit, reads } from "./lab-visit.ts";

// The guided way: each button of each step, in the order in which they stand, until the page tells what was to be seen.

const guides = [
  {
    language: "en-GB",
    ...{ width: 1280, height: 800 },
    begin: "Tell me the story",
    next: "Next",
    close: "Close the story",
    done: "✓ done",
    seen: "What you saw",
    stepOf: (step: number) => `Step ${step} of 8`,
    late: "The delayed event is on its way.",
    ending: "What to try next",
    fresh: "Same as the truth",
    fifth: "5 Too long away",
    waiting: "Waiting for what follows.",
    again: "Begin this step again",
    connect: "Connect again: copy-1",
  },
  {
    language: "ja-JP",
    ...{ width: 390, height: 844 },
    begin: "順番に試す",
    next: "次へ",
    close: "案内を閉じる",
    done: "✓ 済み",
    seen: "ここで見えたこと",
    stepOf: (step: number) => `8 段のうち ${step} 段目`,
    late: "遅らせた知らせが向かっています。",
    ending: "次に試すなら",
    fresh: "真実と同じ",
    fifth: "5 長く離れすぎた",
    waiting: "続きを待っています。",
    again: "この段をやり直す",
    connect: "copy-1：つなぎ直す",
  },
] as const;

/** What the log says where the history did not reach back. */
const gone = /410 Gone/;

for (const guide of guides) {
  describe(`the guided story in ${guide.language}`, { skip: (await browserAbsence()) ?? false }, () => {
    const here = labInBrowser();
    let visit: LabVisit;

    before(async () => {
      visit = await LabVisit.open(here.browser, here.lab.url, guide);
    });

    test("each of its eight steps comes to what it is about", async () => {
      await visit.elsewhere({ do: "create" }, { do: "setHistory", records: 9 });
      await visit.press(guide.begin);
      const step = visit.page.locator(".step");
      for (let number = 1; number <= 8; number++) {
        await reads(step, guide.stepOf(number));
        const title = await step.getByRole("heading", { level: 3 }).innerText();
        assert.equal(await visit.page.evaluate("document.activeElement.textContent"), title);
        const moves = step.locator(".moves li");
        for (let move = 0; move < (await moves.count()); move++) {
          await assertOnlyDue(moves, move);
          await moves.nth(move).getByRole("button").click();
          await reads(moves.nth(move), guide.done);
          assert.ok(
            await isInSight(step.locator(".evidence")),
            `step ${number}: what it is about is in sight`,
          );
          if (number === 8 && move === 2) await reads(step, guide.late);
          // The controller and the wire take their time; the next move is about what they did.
          if (number >= 7) await settled();
        }
        await reads(step.getByRole("status"), guide.seen);
        if (number === 4) await staysAfterReload(step, guide.stepOf(number));
        if (number < 8) await visit.press(guide.next);
        else await reads(step, guide.ending);
      }
      await reads(visit.copy(), guide.fresh);
      await visit.press(guide.close);
      await visit.page.getByRole("button", { name: guide.begin }).waitFor();
      visit.assertQuiet();
    });

    test("a step into which something else came is begun again, and then comes to what it is about", async () => {
      await visit.press(guide.begin);
      await visit.press(guide.fifth);
      const step = visit.page.locator(".step");
      await reads(step, guide.stepOf(5));
      const moves = step.locator(".moves li");
      const play = async (between: () => Promise<void>): Promise<void> => {
        for (let move = 0; move < (await moves.count()); move++) {
          await assertOnlyDue(moves, move);
          await moves.nth(move).getByRole("button").click();
          await reads(moves.nth(move), guide.done);
          if (move === 0) await between();
        }
      };

      await play(async () => {
        await visit.press(guide.connect);
        await reads(visit.copy(), guide.fresh);
      });
      await reads(step, guide.waiting);
      assert.doesNotMatch(await visit.log.innerText(), gone);

      await visit.press(guide.again);
      await reads(step, guide.stepOf(5));
      await eventually("nothing of the step is done any more", async () => assertOnlyDue(moves, 0));
      assert.doesNotMatch(await step.innerText(), new RegExp(guide.waiting));
      const title = await step.getByRole("heading", { level: 3 }).innerText();
      assert.equal(await visit.page.evaluate("document.activeElement.textContent"), title);

      await play(async () => {});
      await reads(step, guide.seen);
      await reads(visit.log, gone);
      await visit.press(guide.close);
      visit.assertQuiet();
    });

    /** The buttons after this one wait for it. */
    async function assertOnlyDue(moves: Locator, due: number): Promise<void> {
      const blocked = await moves
        .getByRole("button")
        .evaluateAll((buttons) => buttons.map((button) => button.getAttribute("aria-disabled") === "true"));
      assert.deepEqual(
        blocked,
        blocked.map((_, index) => index > due),
      );
    }

    async function isInSight(evidence: Locator): Promise<boolean> {
      const box = await evidence.boundingBox();
      return box !== null && box.y >= 0 && box.y + box.height <= guide.height;
    }

    async function staysAfterReload(step: Locator, number: string): Promise<void> {
      await visit.page.reload();
      await reads(step, number);
      await reads(step, guide.done);
      await reads(step, guide.seen);
    }

    /** Waits until the copy that is not cut off has all, and three Pods are there. */
    async function settled(): Promise<void> {
      const isCut = (await visit.copy().getAttribute("data-wire")) === "cut";
      if (isCut) return;
      await eventually("there are three Pods, and the copy has them", async () => {
        assert.equal(await visit.truth.locator(".pods li").count(), 3);
        assert.equal(await visit.copy().getAttribute("data-stale"), "false");
      });
    }
  });
}
