import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { browserAbsence } from "../harness/browser.ts";
import { eventually } from "../harness/eventually.ts";
import { labInBrowser } from "./lab-in-browser.ts";
import { LabVisit, reads } from "./lab-visit.ts";

// Everything by keyboard alone, and what a screen reader is told.

describe("without a pointer", { skip: (await browserAbsence()) ?? false }, () => {
  const here = labInBrowser();
  let visit: LabVisit;

  beforeEach(async () => {
    await visit?.[Symbol.asyncDispose]();
    visit = await LabVisit.open(here.browser, here.lab.url);
    await visit.elsewhere({ do: "reset" });
    await reads(visit.copy(), "version 2");
  });

  /** The accessible name of what has the focus. */
  const focused = (): Promise<string> =>
    visit.page.evaluate<string>(
      `(document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent ?? "").trim()`,
    );
  /** Presses Tab until something has the focus, from wherever it is. */
  const tabTo = async (name: string): Promise<void> => {
    for (let presses = 0; presses < 80; presses++) {
      await visit.page.keyboard.press("Tab");
      if ((await focused()) === name) return;
    }
    assert.fail(`80 times Tab do not lead to “${name}”`);
  };

  test("the first thing that Tab leads to skips to the lab", async () => {
    await visit.page.keyboard.press("Tab");
    assert.equal(await focused(), "Skip to the lab");
    await visit.page.keyboard.press("Enter");
    await tabTo("Start over");
  });

  test("a copy is cut off, left behind, and connected again, all from the keyboard", async () => {
    const { keyboard } = visit.page;
    await tabTo("Create a Pod");
    await keyboard.press("Enter");
    await reads(visit.copy(), "web-3");
    assert.equal(await focused(), "Create a Pod", "what was pressed keeps the focus");
    await tabTo("Cut the watch: copy-1");
    await keyboard.press("Space");
    await reads(visit.copy(), "watch cut");
    assert.equal(await focused(), "Connect again: copy-1", "the same button, with what it does now");
    await keyboard.press("Shift+Tab");
    assert.equal(await focused(), "Change web-3 as copy-1 has it");
    await keyboard.press("Enter");
    await reads(visit.copy(), "1 version behind");
    await keyboard.press("Enter");
    await reads(visit.log, "409 Conflict");
    await tabTo("Connect again: copy-1");
    await keyboard.press("Enter");
    await reads(visit.copy(), "Same as the truth");
    visit.assertQuiet();
  });

  test("when the row with the focus goes, the focus goes to the next one, and at last to what is left", async () => {
    const { keyboard } = visit.page;
    const expectFocus = (name: string): Promise<void> =>
      eventually(`“${name}” has the focus`, async () => assert.equal(await focused(), name));
    await tabTo("Delete web-1");
    await keyboard.press("Enter");
    await expectFocus("Delete web-2");
    await keyboard.press("Enter");
    await reads(visit.truth, "No Pods.");
    await expectFocus("Create a Pod");
    await keyboard.press("Enter");
    await reads(visit.truth, "web-1");
    await tabTo("Remove: copy-1");
    await keyboard.press("Enter");
    await reads(visit.page.locator("main"), "There is no copy. Add one.");
    await expectFocus("Add a copy");
    await keyboard.press("Enter");
    await reads(visit.copy(), "version");
  });

  test("what others do takes the focus from nobody", async () => {
    await tabTo("Delete web-2");
    await visit.elsewhere({ do: "create" }, { do: "delete", name: "web-1" }, { do: "change", name: "web-2" });
    await reads(visit.truth, "version 5");
    assert.equal(await focused(), "Delete web-2");
  });

  test("the history's length, the trusted copy and the wanted number are chosen from the keyboard", async () => {
    const { keyboard } = visit.page;
    await visit.truth.getByLabel("Writes kept").focus();
    await keyboard.press("Control+A");
    await keyboard.type("2");
    await keyboard.press("Enter");
    await reads(visit.log, "the history keeps 2 writes");
    await visit.truth.getByLabel("Writes kept (1–50)").focus();
    await keyboard.press("Control+A");
    await keyboard.type("99");
    await keyboard.press("Enter");
    await reads(visit.log, "the history keeps 50 writes");
    await visit.elsewhere({ do: "addCopy" });
    await reads(visit.copy("copy-2"), "version 2");
    await visit.controller.getByLabel("trusts").focus();
    await keyboard.press("ArrowDown");
    await visit.controller.getByLabel("wants").focus();
    await keyboard.press("ArrowUp");
    await keyboard.press("Tab");
    await keyboard.press("Enter");
    await reads(visit.log, "trusts copy-2 from now on and wants 4 Pods");
    await reads(visit.truth, "web-4");
    await reads(visit.copy("copy-1"), "web-4");
  });

  test("what has the focus shows it", async () => {
    for (const name of ["Create a Pod", "Delete web-1", "Cut the watch: copy-1"]) {
      await tabTo(name);
      const outline = await visit.page.evaluate<string>(
        `(({ outlineStyle, outlineWidth }) => outlineStyle + " " + outlineWidth)(getComputedStyle(document.activeElement))`,
      );
      assert.equal(outline, "solid 3px", name);
    }
  });

  test("the announcer tells what happened, politely, together, and not what was there before", async () => {
    const announcer = visit.page.locator("[data-announcer]");
    assert.equal(await announcer.getAttribute("role"), "status");
    await visit.elsewhere(
      { do: "cut", copy: "copy-1" },
      { do: "create" },
      { do: "create" },
      { do: "create" },
    );
    // A copy that is slow to find out tells of more than the cut.
    await reads(
      announcer,
      /^\d+ other lines in the log\. You created web-4: version 4\. You created web-5: version 5\.$/,
    );
    await visit.page.reload();
    await reads(visit.copy(), "3 versions behind");
    await visit.elsewhere({ do: "compact" });
    await reads(announcer, /^The history was forgotten/);
  });

  test("the page has its landmarks and headings", async () => {
    const tree = await visit.page.locator("body").ariaSnapshot();
    for (const part of [
      "- banner:",
      "- main:",
      "- contentinfo:",
      `- heading "Informer lab" [level=1]`,
      `- region "The truth"`,
      `- region "Copies"`,
      `- article "copy-1"`,
      `- region "Small controller"`,
      `- region "What happened"`,
      `table "The newest versions: what was written, and which copies have it"`,
    ]) {
      assert.ok(tree.includes(part), `${part} is missing in\n${tree}`);
    }
  });
});
